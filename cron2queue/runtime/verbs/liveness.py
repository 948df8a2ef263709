"""Who is alive: a counter that a worker raises, and rescue by those who have watched it stand still.

No clock decides. The store tells the counters and rescues on one condition only: that the counter is still the one
that the rescuer has seen stand still, on its own monotonic clock, for the whole lease time.
"""

import json
from collections.abc import Collection, Sequence
from typing import Final

from cron2queue.runtime.backend import CLAIM_COLUMNS, Backend, marks
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import (
    AttemptRecord,
    Crashed,
    Job,
    JobState,
    Lease,
    Released,
    Rescued,
    Settlement,
    WorkerInfo,
)
from cron2queue.runtime.limits import Controls
from cron2queue.runtime.verbs import settling
from cron2queue.runtime.verbs.claiming import job_of

UNREGISTERED: Final = -1  # the counter of a worker that holds jobs and has no row


def register(session: Session, backend: Backend, worker: WorkerInfo) -> None:
    """Write the worker's row, with its counter at zero."""
    backend.try_write(
        session,
        "INSERT INTO {workers} (token, host, pid, version, kinds, queues, beat_counter, rss_bytes, running, "
        "started_at, beat_at) VALUES (?, ?, ?, ?, ?, ?, 0, NULL, 0, {now}, {now})",
        (
            worker.token,
            settling.clean(worker.host, 255),
            worker.pid,
            settling.clean(worker.version, 64),
            json.dumps(list(worker.kinds)),
            json.dumps(list(worker.queues)),
        ),
    )


def beat(session: Session, worker: str, rss_bytes: int | None, running: int) -> int:
    """Raise the counter; its new value, or 0 if the worker was rescued from: it must stop its children."""
    statement = (
        "UPDATE {workers} SET beat_counter = beat_counter + 1, rss_bytes = ?, running = ?, beat_at = {now} WHERE token = ?"
    )
    if session.changed(statement, (rss_bytes, running, worker)) != 1:
        return 0
    return int(session.value("SELECT beat_counter FROM {workers} WHERE token = ?", (worker,)))


def beats(session: Session) -> dict[str, int]:
    """The counters of all workers, and UNREGISTERED for those that hold jobs without a row."""
    counters = dict(session.rows("SELECT token, beat_counter FROM {workers}"))
    holders = "SELECT DISTINCT worker FROM {jobs} WHERE worker IS NOT NULL"
    return {row[0]: UNREGISTERED for row in session.rows(holders)} | {token: int(count) for token, count in counters.items()}


def retire(session: Session, worker: str) -> bool:
    """Take the worker's row away. Jobs that it still holds are found by beats() as UNREGISTERED."""
    return session.changed("DELETE FROM {workers} WHERE token = ?", (worker,)) == 1


def _stands_still(session: Session, backend: Backend, worker: str, counter_seen: int) -> bool:
    """Take the worker's row if its counter is still the one seen: a beat at the same moment waits, and then finds no row."""
    if counter_seen == UNREGISTERED:
        return session.value("SELECT token FROM {workers} WHERE token = ?", (worker,)) is None
    query = "SELECT token FROM {workers} WHERE token = ? AND beat_counter = ?" + backend.passing_locks
    if session.value(query, (worker, counter_seen)) is None:
        return False
    statement = "DELETE FROM {workers} WHERE token = ? AND beat_counter = ?"
    return session.changed(statement, (worker, counter_seen)) == 1


def _held_jobs(session: Session, worker: str, limit: int, locking: str = "") -> list[Job]:
    query = f"SELECT queue, lease, {CLAIM_COLUMNS} FROM {{jobs}} WHERE worker = ? ORDER BY id LIMIT ?{locking}"
    return [job_of(row, queue, Lease(lease, worker)) for queue, lease, *row in session.rows(query, (worker, limit))]


def rescue(session: Session, backend: Backend, controls: Controls, worker: str, *, counter_seen: int, by: str) -> list[Rescued]:
    """Take all jobs back from a worker whose counter still stands where it was seen; each counts as a crash.

    A job that was asked to stop ends as cancelled here: it never runs again. A worker that was stopped within a transaction
    holds locks; what it has locked is not waited for (the rescuer has beats of its own to give) but found by the next rescue.
    """
    if not _stands_still(session, backend, worker, counter_seen):
        return []
    rescued: list[Rescued] = []
    while jobs := _held_jobs(session, worker, 200, backend.passing_locks):
        outcome = Crashed(reason="crashed", message="its worker stood still or was lost", diagnostic=f"rescued by {by}")
        kept = AttemptRecord(outcome_name="rescued")
        settled = [Settlement(job=job, outcome=outcome, record=kept) for job in jobs]
        held = settling.settle(session, backend, controls, settled)
        rescued += _became(session, [job for job, was_held in zip(jobs, held, strict=True) if was_held])
        if not any(held):
            break
    return rescued


def _became(session: Session, jobs: Sequence[Job]) -> list[Rescued]:
    if not jobs:
        return []
    query = f"SELECT id, public_id, kind, queue, state, crashes FROM {{jobs}} WHERE id IN ({marks(len(jobs))}) ORDER BY id"
    return [
        Rescued(id=int(row[0]), public_id=row[1], kind=row[2], queue=row[3], state=JobState(row[4]), crashes=row[5])
        for row in session.rows(query, [job.id for job in jobs])
    ]


def reconcile(session: Session, backend: Backend, controls: Controls, worker: str, held: Collection[str]) -> int:
    """Give back the jobs that the table counts as this worker's and the worker does not know; they use no attempt.

    Call it from where claims are made, so that no claim is under way.
    """
    lost = [job for job in _held_jobs(session, worker, 1000) if job.lease.token not in held]
    released = [Settlement(job=job, outcome=Released()) for job in lost]
    return sum(settling.settle(session, backend, controls, released)) if released else 0
