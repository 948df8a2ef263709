"""Upkeep: due jobs come over, what fell between is found, old rows go. Always ids first, then writes by primary key."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cron2queue.runtime.backend import Backend, marks
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.limits import Controls, LimitId, held_by
from cron2queue.runtime.verbs import admission, ordering

PRUNE_BATCH: Final = 500
_SWEEP: Final = 50


def move_due(session: Session, limit: int) -> int:
    """Scheduled jobs whose time has come become ready."""
    ids = [row[0] for row in session.rows("SELECT id FROM {jobs} WHERE due_at <= {now} ORDER BY due_at LIMIT ?", (limit,))]
    moved = 0
    for start in range(0, len(ids), 500):
        some = sorted(ids[start : start + 500])
        statement = (
            f"UPDATE {{jobs}} SET due_at = NULL, ready_at = {{now}}, state = 'ready' WHERE id IN ({marks(len(some))}) "
            "AND state = 'scheduled'"
        )
        moved += session.changed(statement, some)
    return moved


def has_held(session: Session) -> bool:
    """Whether any job is blocked at all."""
    return session.value("SELECT held_by FROM {jobs} WHERE held_by IS NOT NULL ORDER BY held_by LIMIT 1") is not None


def sweep(session: Session, backend: Backend, controls: Controls, after: bytes) -> tuple[int, bytes]:
    """Look at some of the names that jobs are held by, from `after` on; free those whose reason is gone.

    Returns how many became ready, and where to go on (empty: from the start).
    """
    backend.lock_limits(session, None, list(controls.limits))
    names = {held_by(limit, None): limit for limit in controls.limits if limit[0] == "kind"}
    freed = 0
    for _ in range(_SWEEP):
        row = session.row(
            "SELECT held_by, ordering_key, COALESCE(limit_key, job_key) FROM {jobs} WHERE held_by > ? "
            "ORDER BY held_by, held_rank, id LIMIT 1",
            (after,),
        )
        if row is None:
            return freed, b""
        after = bytes(row[0])
        freed += _look_at(session, backend, controls, names, row)
    return freed, after


def _look_at(session: Session, backend: Backend, controls: Controls, names: Mapping[bytes, LimitId], row: Sequence[Any]) -> int:
    name = bytes(row[0])
    if name in names:
        return admission.free(session, controls, [(names[name], name)])
    key = None if row[2] is None else bytes(row[2])
    by_key = controls.key_limit(key)
    if by_key is not None and held_by(by_key, key) == name:
        return admission.free(session, controls, [(by_key, name)])
    if row[1] is not None and ordering.turn_of_bytes(bytes(row[1])) == name:
        return int(ordering.pass_on(session, backend, name))
    return admission.unblock(session, name, PRUNE_BATCH)  # its limit was taken away


Cursor = tuple[int, int]  # finished_at and id of the last row looked at


def prunable(session: Session, before: Mapping[str, int], after: Cursor) -> tuple[list[int], Cursor | None]:
    """Ids of ended jobs older than their state's moment, and where to go on; None at the end.

    One walk along the index of finished jobs, that never comes back to what it has passed.
    """
    latest = max(before.values())
    rows = session.rows(
        "SELECT id, state, finished_at FROM {jobs} WHERE finished_at >= ? AND finished_at < ? AND (finished_at > ? OR id > ?) "
        "ORDER BY finished_at, id LIMIT ?",
        (after[0], latest, after[0], after[1], PRUNE_BATCH),
    )
    ids = [row[0] for row in rows if row[2] < before.get(row[1], 0)]
    return ids, (rows[-1][2], rows[-1][0]) if len(rows) == PRUNE_BATCH else None


def delete_jobs(session: Session, ids: Sequence[int]) -> int:
    """Jobs and their attempts, by primary key. A job that was requeued meanwhile stays."""
    some = marks(len(ids))
    ended = "state IN ('succeeded', 'dead', 'cancelled')"
    gone = session.changed(f"DELETE FROM {{jobs}} WHERE id IN ({some}) AND {ended}", ids)
    session.run(
        f"DELETE FROM {{attempts}} WHERE job_id IN ({some}) AND NOT EXISTS (SELECT 1 FROM {{jobs}} j WHERE j.id = job_id)", ids
    )
    return gone


def prune_inbox(session: Session, before: int) -> int:
    """One batch of processed messages that are older."""
    query = "SELECT consumer, message_id FROM {inbox} WHERE processed_at < ? ORDER BY processed_at LIMIT ?"
    rows = session.rows(query, (before, PRUNE_BATCH))
    for consumer, message_id in rows:
        session.run("DELETE FROM {inbox} WHERE consumer = ? AND message_id = ?", (bytes(consumer), bytes(message_id)))
    return len(rows)


def prune_operations(session: Session, before: int) -> int:
    """One batch of the operators' log that is older: of its oldest lines by number, for its times have no index."""
    oldest = session.rows("SELECT id, done_at FROM {operations} ORDER BY id LIMIT ?", (4 * PRUNE_BATCH,))
    ids = [row[0] for row in oldest if row[1] < before][:PRUNE_BATCH]
    return session.changed(f"DELETE FROM {{operations}} WHERE id IN ({marks(len(ids))})", ids) if ids else 0
