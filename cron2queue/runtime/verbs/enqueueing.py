"""Enqueue: idempotent by key, in order by ordering key, refused when a queue is full, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cron2queue.runtime.backend import Backend, marks
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import Enqueued
from cron2queue.runtime.limits import UNTIL_PRUNED, Controls, Stale
from cron2queue.runtime.trouble import DatabaseBusy, QueueFull
from cron2queue.runtime.verbs.drafts import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

CHUNK_ROWS: Final = 1000
CHUNK_BYTES: Final = 1024 * 1024  # far below the smallest max_allowed_packet
_ROUNDS: Final = 6


class Known:
    """What the tables already hold of a batch."""

    __slots__ = ("expired", "jobs", "now", "turns", "version")

    def __init__(self) -> None:
        self.now = 0
        self.version = -1
        self.jobs: dict[bytes, tuple[int, str]] = {}  # by dedupe hash
        self.expired: list[tuple[int, bytes]] = []
        self.turns: set[bytes] = set()


def is_one_statement(drafts: Sequence[Draft]) -> bool:
    """Whether one INSERT stores all of them or none, without a transaction around it."""
    if len(drafts) == 1:
        return True
    return False not in [draft.certain for draft in drafts] and len(next(chunks(drafts))) == len(drafts)


def enqueue_alone(session: Session, backend: Backend, controls: Controls, drafts: Sequence[Draft]) -> list[Enqueued]:
    """Store what is one statement. Most are new, and no queue is bounded: then nothing need be looked at before."""
    if (len(drafts) == 1 or not session.reruns) and _need_no_look(drafts, controls):
        ids = backend.insert_current(session, [draft.timeless_row() for draft in drafts], controls.version)
        if ids:
            return [
                Enqueued(id=job_id, public_id=draft.public_id, duplicate=False)
                for draft, job_id in zip(drafts, ids, strict=True)
            ]
    return enqueue(session, backend, controls, drafts)


def _need_no_look(drafts: Sequence[Draft], controls: Controls) -> bool:
    for terms in {id(draft.terms): draft.terms for draft in drafts}.values():
        rule = controls.queue(terms.queue)
        if rule.depth_limit is not None or rule.age_limit is not None or not terms.timeless:
            return False
    return True


def enqueue(session: Session, backend: Backend, controls: Controls, drafts: Sequence[Draft]) -> list[Enqueued]:
    """Store what is not there yet; one answer for each draft, in their order. Raises Stale or QueueFull before any write."""
    refused: set[str] = set()
    answers: list[Enqueued] = []
    for chunk in chunks(drafts):
        known = look(session, chunk)
        if known.version != controls.version:
            raise Stale
        for queue in sorted({draft.job.queue for draft in chunk} - refused):
            refuse_if_full(session, controls, queue, drafts)
            refused.add(queue)
        answers += _store(session, backend, chunk, known)
    return answers


def chunks(drafts: Sequence[Draft]) -> Iterator[list[Draft]]:
    """Parts that fit into one statement on every database."""
    part: list[Draft] = []
    size = 0
    for draft in drafts:
        weight = len(draft.payload) * 2 + len(draft.key or b"") * 2 + 600
        if part and (len(part) >= CHUNK_ROWS or size + weight > CHUNK_BYTES):
            yield part
            part, size = [], 0
        part.append(draft)
        size += weight
    if part:
        yield part


def look(session: Session, drafts: Sequence[Draft], *, current: bool = False) -> Known:
    """One query for all: the clock, the count of changes, jobs of the same keys, and who has the turn.

    It locks nothing. `current` looks past the snapshot of a caller's REPEATABLE READ transaction, where there is one.
    """
    share = session.driver.current_read if current else ""
    hashes = [draft.dedupe for draft in drafts if draft.dedupe is not None]
    turns = list({draft.terms.turn for draft in drafts if draft.terms.turn is not None})
    query = "SELECT 0, {now}, '', NULL, version FROM {controls} WHERE id = 1"
    if hashes:
        same = f"SELECT 1, id, public_id, dedupe, unique_until FROM {{jobs}} WHERE dedupe IN ({marks(len(hashes))})"
        query += f" UNION ALL ({same}{share})" if share else f" UNION ALL {same}"
    if turns:
        same = f"SELECT 2, id, '', turn, 0 FROM {{jobs}} WHERE turn IN ({marks(len(turns))})"
        query += f" UNION ALL ({same}{share})" if share else f" UNION ALL {same}"
    return _known(session.rows(query, (*hashes, *turns)))


def _known(rows: Sequence[tuple[Any, ...]]) -> Known:
    known = Known()
    for what, number, public_id, digest, until in sorted(rows, key=lambda row: row[0]):
        if what == 0:
            known.now, known.version = int(number), int(until)
        elif what == 2:
            known.turns.add(bytes(digest))
        elif until is not None and until != UNTIL_PRUNED and until <= known.now:
            known.expired.append((number, bytes(digest)))
        else:
            known.jobs[bytes(digest)] = (int(number), public_id)
    return known


def refuse_if_full(session: Session, controls: Controls, queue: str, drafts: Sequence[Draft]) -> None:
    """Raise QueueFull if these jobs would bring the queue over its depth, or its oldest ready job is over the age limit."""
    rule = controls.queue(queue)
    if rule.depth_limit is not None:
        wanted = sum(1 for draft in drafts if draft.job.queue == queue)
        depth = waiting(session, queue, rule.depth_limit)
        if depth + wanted > rule.depth_limit:
            raise QueueFull(
                f"queue {queue} holds {depth} of at most {rule.depth_limit} waiting jobs",
                queue=queue,
                remedy="try again when the workers have caught up, add workers, or raise depth-limit",
            )
    if rule.age_limit is not None and (age := oldest_age(session, queue)) is not None and age > rule.age_limit:
        raise QueueFull(
            f"the oldest ready job of queue {queue} waits for {age:.0f} s already, more than {rule.age_limit:g} s",
            queue=queue,
            remedy="check that workers run for this queue, then try again",
        )


def waiting(session: Session, queue: str, limit: int) -> int:
    """How many jobs of a queue wait (ready, scheduled, blocked), counted no further than the limit."""
    query = "SELECT COUNT(*) FROM (SELECT id FROM {jobs} WHERE queue = ? AND state = ? LIMIT ?) counted"
    count = 0
    for state in ("ready", "scheduled", "blocked"):
        count += int(session.value(query, (queue, state, limit)))
    return count


def oldest_age(session: Session, queue: str) -> float | None:
    """Seconds that the first ready job of each priority's head has waited; None if nothing is ready.

    The heads of the claim index are read, never the whole backlog.
    """
    head = "SELECT priority, ready_at, {now} FROM {jobs} WHERE queue = ? AND state = 'ready' "
    head += "AND priority > ? ORDER BY priority, id LIMIT 1"
    oldest: float | None = None
    priority = -(2**31)
    for _ in range(20):
        row = session.row(head, (queue, priority))
        if row is None:
            break
        priority, ready_at, now = row
        if ready_at is not None:
            oldest = max(oldest or 0.0, (now - ready_at) / 1e6)
    return oldest


def _store(session: Session, backend: Backend, drafts: Sequence[Draft], known: Known) -> list[Enqueued]:
    """Insert, believe the unique indexes, and look again at what they refused."""
    answers: dict[str, Enqueued] = {}
    left = list(drafts)
    for _ in range(_ROUNDS):
        _free_expired(session, known)
        fresh = _answer_known(left, known, answers)
        if session.reruns:  # it collided with others: in the order of the unique index nobody waits in a circle
            fresh.sort(key=lambda draft: b"" if draft.terms.turn is not None else draft.dedupe or b"")
        turns = set(known.turns)
        rows = [draft.row(now=known.now, has_turn=_gets_turn(draft, turns)) for draft in fresh]
        certain = not session.reruns and False not in [draft.certain for draft in fresh]
        ids = backend.insert(session, rows, certain=certain) if rows else []
        for draft, job_id in zip(fresh, ids, strict=True):
            if job_id is not None:
                answers[draft.public_id] = Enqueued(id=job_id, public_id=draft.public_id, duplicate=False)
        left = [draft for draft in left if draft.public_id not in answers]
        if not left:
            return [answers[draft.public_id] for draft in drafts]
        _find_repeated(session, left, answers)
        known = look(session, left, current=True)
    raise DatabaseBusy("other producers kept taking the same keys", remedy="try again later")


def _free_expired(session: Session, known: Known) -> None:
    for job_id, digest in known.expired:
        session.run("UPDATE {jobs} SET dedupe = NULL WHERE id = ? AND dedupe = ?", (job_id, digest))


def _gets_turn(draft: Draft, turns: set[bytes]) -> bool:
    turn = draft.terms.turn
    if turn is None or turn in turns:
        return False
    turns.add(turn)
    return True


def _answer_known(drafts: Sequence[Draft], known: Known, answers: dict[str, Enqueued]) -> list[Draft]:
    """Answer duplicates; what remains is new. Of equal keys in one batch the first is new, the others wait for it."""
    fresh: list[Draft] = []
    seen: set[bytes] = set()
    for draft in drafts:
        if draft.public_id in answers:
            continue
        if draft.dedupe is not None and draft.dedupe in known.jobs:
            job_id, public_id = known.jobs[draft.dedupe]
            answers[draft.public_id] = Enqueued(id=job_id, public_id=public_id, duplicate=public_id != draft.public_id)
        elif draft.dedupe is None or draft.dedupe not in seen:
            fresh.append(draft)
            if draft.dedupe is not None:
                seen.add(draft.dedupe)
    return fresh


def _find_repeated(session: Session, drafts: Sequence[Draft], answers: dict[str, Enqueued]) -> None:
    """An enqueue whose COMMIT was lost may have happened: then the row carries our public id."""
    ids = [draft.public_id for draft in drafts]
    query = f"SELECT id, public_id FROM {{jobs}} WHERE public_id IN ({marks(len(ids))})"
    for job_id, public_id in session.rows(query, ids):
        answers[public_id] = Enqueued(id=int(job_id), public_id=public_id, duplicate=False)
