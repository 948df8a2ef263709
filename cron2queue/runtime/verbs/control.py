"""What operators do: pause, limit, cancel, requeue. Each act is recorded with who did it, in the same transaction."""

import json
from collections.abc import Sequence
from typing import Any, Final

from cron2queue.runtime.backend import Backend, marks
from cron2queue.runtime.database.instants import seconds
from cron2queue.runtime.database.session import RunCarefully, Session
from cron2queue.runtime.jobs import JobState, sources
from cron2queue.runtime.limits import EVERY_KEY, LimitId, raise_version, turn_of
from cron2queue.text import cut_bytes, to_text

_STARTS: Final = 50  # moments over which a spread divides one batch


def clean(text: str, limit: int) -> str:
    """Text that every database takes."""
    return cut_bytes(text.replace("\0", "\\0"), limit)


def note(session: Session, by: str, verb: str, target: str, *, detail: Any = None, job_id: int | None = None) -> None:
    """Write down who did what to which."""
    session.run(
        "INSERT INTO {operations} (done_at, done_by, verb, target, detail, job_id) VALUES ({now}, ?, ?, ?, ?, ?)",
        (clean(by, 255), verb, clean(target, 1000), None if detail is None else clean(json.dumps(detail), 60_000), job_id),
    )


def note_jobs(session: Session, by: str, verb: str, jobs: Sequence[tuple[str, int]]) -> None:
    """The same act on many jobs, by public id and id: a line for each."""
    for start in range(0, len(jobs), 100):
        some = jobs[start : start + 100]
        values = ", ".join(["({now}, ?, ?, ?, ?)"] * len(some))
        who = clean(by, 255)
        cells = [cell for public_id, job_id in some for cell in (who, verb, public_id, job_id)]
        session.run(f"INSERT INTO {{operations}} (done_at, done_by, verb, target, job_id) VALUES {values}", cells)


def have_queue(session: Session, backend: Backend, queue: str) -> None:
    """Make sure that the queue has a row."""
    if session.value("SELECT name FROM {queues} WHERE name = ?", (queue,)) is None:
        backend.try_write(session, "INSERT INTO {queues} (name, locked) VALUES (?, 0)", (queue,))


def have_limit(session: Session, backend: Backend, limit: LimitId) -> None:
    """Make sure that the limit has a row."""
    if session.value("SELECT scope FROM {limits} WHERE scope = ? AND name = ?", limit) is None:
        backend.try_write(session, "INSERT INTO {limits} (scope, name, locked) VALUES (?, ?, 0)", limit)


def pause(session: Session, backend: Backend, queue: str, by: str) -> bool:
    """Stop claims from a queue. False if it was paused already."""
    have_queue(session, backend, queue)
    statement = "UPDATE {queues} SET paused_at = {now}, paused_by = ? WHERE name = ? AND paused_at IS NULL"
    if not session.changed(statement, (clean(by, 255), queue)):
        return False
    raise_version(session)
    note(session, by, "pause", queue)
    return True


def resume(session: Session, queue: str, by: str) -> bool:
    """Let a queue go on. False if it was not paused."""
    statement = "UPDATE {queues} SET paused_at = NULL, paused_by = NULL WHERE name = ? AND paused_at IS NOT NULL"
    if not session.changed(statement, (queue,)):
        return False
    raise_version(session)
    note(session, by, "resume", queue)
    return True


def pause_kind(session: Session, backend: Backend, kind: str, for_seconds: float) -> None:
    """Keep a kind back for so long from now; a longer pause that is in force already stays."""
    limit = ("kind", kind.encode())
    have_limit(session, backend, limit)
    wait = seconds(for_seconds)
    statement = (
        "UPDATE {limits} SET paused_until = {now} + ? WHERE scope = ? AND name = ? "
        "AND (paused_until IS NULL OR paused_until < {now} + ?)"
    )
    if session.changed(statement, (wait, *limit, wait)):
        raise_version(session)


def resume_kind(session: Session, kind: str, by: str) -> bool:
    """End the pause of a kind now. Jobs that were put off come back with the next moves."""
    statement = "UPDATE {limits} SET paused_until = NULL WHERE scope = 'kind' AND name = ? AND paused_until IS NOT NULL"
    if not session.changed(statement, (kind.encode(),)):
        return False
    early = "SELECT id FROM {jobs} WHERE due_at > {now} AND run_at <= {now} AND kind = ? ORDER BY id LIMIT 500"
    while ids := [row[0] for row in session.rows(early, (kind,))]:
        session.run(f"UPDATE {{jobs}} SET due_at = {{now}} WHERE id IN ({marks(len(ids))}) AND state = 'scheduled'", ids)
    raise_version(session)  # at last: producers on MySQL and MariaDB wait for who holds that row
    note(session, by, "resume-kind", kind)
    return True


def raise_restart_mark(session: Session, by: str) -> int:
    """Workers compare the mark with the one that they saw when they began."""
    session.run("UPDATE {controls} SET restart_mark = restart_mark + 1 WHERE id = 1")
    note(session, by, "restart-workers", "all")
    return int(session.value("SELECT restart_mark FROM {controls} WHERE id = 1"))


QUEUE_COLUMNS: Final = ("concurrency", "depth_limit", "age_limit", "alert_depth", "alert_age")
LIMIT_COLUMNS: Final = ("concurrency", "rate", "burst")


def limit_queue(session: Session, backend: Backend, queue: str, values: dict[str, Any], by: str) -> None:
    """Set some of QUEUE_COLUMNS; None takes a limit away. Nothing is written when nothing changes."""
    have_queue(session, backend, queue)
    names = [name for name in QUEUE_COLUMNS if name in values]
    before = session.row(f"SELECT {', '.join(names)} FROM {{queues}} WHERE name = ?", (queue,))
    if before == tuple(values[name] for name in names):
        return
    changes = ", ".join(f"{name} = ?" for name in names)
    session.run(f"UPDATE {{queues}} SET {changes} WHERE name = ?", (*(values[name] for name in names), queue))
    raise_version(session)
    note(session, by, "limit", queue, detail=values)


def limit_jobs(session: Session, backend: Backend, limit: LimitId, values: dict[str, Any], by: str) -> None:
    """Set concurrency, rate or burst of a kind or key; None takes a limit away."""
    have_limit(session, backend, limit)
    if limit[0] == "key":
        have_limit(session, backend, ("key", EVERY_KEY))  # the row that all claims under limits by key take
    names = [name for name in LIMIT_COLUMNS if name in values]
    before = session.row(f"SELECT {', '.join(names)} FROM {{limits}} WHERE scope = ? AND name = ?", limit)
    if before == tuple(values[name] for name in names):
        return
    changes = ", ".join(f"{name} = ?" for name in names)
    session.run(
        f"UPDATE {{limits}} SET {changes}, tokens = NULL WHERE scope = ? AND name = ?",
        (*(values[name] for name in names), *limit),
    )
    raise_version(session)
    note(session, by, "limit", f"{limit[0]} {to_text(limit[1])}", detail=values)


def _in(states: Sequence[JobState]) -> str:
    return ", ".join(f"'{state}'" for state in states)


_NOT_BEGUN: Final = _in([state for state in sources(JobState.CANCELLED) if state not in ("running", "cancel_requested")])
_CANCEL_NOW: Final = (
    "UPDATE {jobs} SET cancel_requested_at = {now}, cancel_requested_by = ?, finished_at = {now}, due_at = NULL, "
    "held_by = NULL, held_rank = NULL, turn = NULL, "
    "dedupe = CASE WHEN unique_until IS NULL THEN NULL ELSE dedupe END, message = 'cancelled before it began', "
    f"state = 'cancelled' WHERE id = ? AND state IN ({_NOT_BEGUN})"
)
_CANCEL_LATER: Final = (
    "UPDATE {jobs} SET cancel_requested_at = {now}, cancel_requested_by = ?, state = 'cancel_requested' "
    "WHERE id = ? AND state = 'running'"
)


def find(session: Session, public_id: str, principal: str | None) -> tuple[int, str, bytes | None] | None:
    """Id, state and ordering key of a job that the principal may see; the owner's filter is in the query itself."""
    query = "SELECT id, state, ordering_key FROM {jobs} WHERE public_id = ?"
    parameters: tuple[Any, ...] = (public_id,)
    if principal is not None:
        query, parameters = query + " AND owner = ?", (public_id, principal.encode("utf-8", "surrogateescape"))
    row = session.row(query, parameters)
    return None if row is None else (int(row[0]), row[1], None if row[2] is None else bytes(row[2]))


def cancel(session: Session, public_id: str, by: str, principal: str | None) -> tuple[JobState, bytes | None] | None:
    """Cancel what has not begun, ask what runs to stop. The state that it led to and the turn that it may have left.

    None if there is no such job (for this principal). Each write is guarded, so that a claim, a settle or a rescue at
    the same moment is either before it or after it, never both.
    """
    for _ in range(10):
        found = find(session, public_id, principal)
        if found is None:
            return None
        job_id, state, ordering_key = found
        turn = None if ordering_key is None else turn_of(to_text(ordering_key))
        if state in ("succeeded", "dead", "cancelled", "cancel_requested"):
            return JobState(state), None
        if session.changed(_CANCEL_NOW, (clean(by, 255), job_id)):
            note(session, by, "cancel", public_id, job_id=job_id)
            return JobState.CANCELLED, turn
        if session.changed(_CANCEL_LATER, (clean(by, 255), job_id)):
            note(session, by, "cancel", public_id, job_id=job_id)
            return JobState.CANCEL_REQUESTED, None
    return JobState(state), None


def make_due(session: Session, public_id: str, by: str, principal: str | None) -> JobState | None:
    """Let a job that waits for its time or its retry be due now; the next moves bring it over. The state it is in then."""
    found = find(session, public_id, principal)
    if found is None:
        return None
    statement = "UPDATE {jobs} SET run_at = {now}, due_at = {now} WHERE id = ? AND state = 'scheduled'"
    if session.changed(statement, (found[0],)):
        note(session, by, "release", public_id, job_id=found[0])
    return JobState(found[1])


def dead_ids(session: Session, kind: str | None, queue: str | None, since: int | None, limit: int) -> list[int]:
    """Dead jobs by what an operator names, oldest first."""
    query, parameters = "SELECT id FROM {jobs} WHERE finished_at >= ? AND state = 'dead'", [since or 0]
    for column, value in (("kind", kind), ("queue", queue)):
        if value is not None:
            query += f" AND {column} = ?"
            parameters.append(value)  # type: ignore[arg-type]
    return [row[0] for row in session.rows(query + " ORDER BY finished_at, id LIMIT ?", (*parameters, limit))]


def requeue(session: Session, ids: Sequence[int], by: str, offset: int, spread: int) -> tuple[int, list[bytes]]:
    """Bring dead jobs back: attempts start anew, the history stays. They start from `offset` on, over `spread` (micros).

    Jobs with an ordering key wait for their turn; the turns to pass on are returned. A job that is not dead is left alone.
    """
    query = f"SELECT id, public_id, ordering_key FROM {{jobs}} WHERE id IN ({marks(len(ids))}) AND state = 'dead'"
    dead = {
        int(row[0]): (row[1], None if row[2] is None else turn_of(to_text(bytes(row[2])))) for row in session.rows(query, ids)
    }
    step = max(1, spread // _STARTS)
    groups: dict[tuple[int, bytes | None], list[int]] = {}
    for position, job_id in enumerate(ids):
        if job_id in dead:
            wait = offset + spread * position // len(ids) // step * step
            groups.setdefault((wait, dead[job_id][1]), []).append(job_id)
    back = [job_id for (wait, turn), some in groups.items() for job_id in _revive(session, some, wait, turn)]
    note_jobs(session, by, "requeue", [(dead[job_id][0], job_id) for job_id in back])
    return len(back), sorted({turn for _, turn in (dead[job_id] for job_id in back) if turn is not None})


def _revive(session: Session, ids: Sequence[int], wait: int, turn: bytes | None) -> Sequence[int]:
    """Those of these jobs that really came back: all by one statement, or (carefully, again) one by one."""
    if session.careful:
        return [job_id for job_id in ids if _change_back(session, [job_id], wait, turn) == 1]
    if _change_back(session, ids, wait, turn) != len(ids):
        raise RunCarefully
    return ids


def _change_back(session: Session, ids: Sequence[int], wait: int, turn: bytes | None) -> int:
    where = f"WHERE id IN ({marks(len(ids))}) AND state = 'dead'"
    anew = "attempts = 0, crashes = 0, finished_at = NULL, progress = NULL, phase = NULL, cancel_requested_at = NULL, "
    anew += "cancel_requested_by = NULL, run_at = {now} + ?"
    if turn is not None:
        statement = f"UPDATE {{jobs}} SET {anew}, held_by = ?, held_rank = 0, state = 'blocked' {where}"
        return session.changed(statement, (wait, turn, *ids))
    if wait:
        return session.changed(
            f"UPDATE {{jobs}} SET {anew}, due_at = {{now}} + ?, state = 'scheduled' {where}", (wait, wait, *ids)
        )
    return session.changed(f"UPDATE {{jobs}} SET {anew}, ready_at = {{now}}, state = 'ready' {where}", (0, *ids))


def ids_of(session: Session, public_ids: Sequence[str]) -> list[int]:
    """Internal ids of public ones, in their order; unknown ones are left out."""
    found: dict[str, int] = {}
    for start in range(0, len(public_ids), 500):
        some = public_ids[start : start + 500]
        query = f"SELECT public_id, id FROM {{jobs}} WHERE public_id IN ({marks(len(some))})"
        found.update({row[0]: int(row[1]) for row in session.rows(query, some)})
    return [found[public_id] for public_id in public_ids if public_id in found]
