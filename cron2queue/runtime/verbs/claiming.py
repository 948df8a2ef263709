"""Claim: which jobs a worker gets, under pauses and limits."""

from collections.abc import Collection, Sequence
from typing import Any

from cron2queue.runtime.backend import CLAIM_COLUMNS, Backend, Want
from cron2queue.runtime.database.exact import random_hex, text_of
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import Job, Lease
from cron2queue.runtime.limits import Controls, compare
from cron2queue.runtime.verbs import admission


def new_token() -> str:
    """A token that nobody can guess and nobody else has."""
    return random_hex(12)


def job_of(row: Sequence[Any], queue: str, lease: Lease) -> Job:
    """A row of CLAIM_COLUMNS as a Job."""
    job_id, public_id, kind, key, payload, attempt, most, crashes, run, *others = row
    ordering_key, owner, trace, limit_key, priority, waited = others
    if key is not None:
        key = text_of(key)
    if ordering_key is not None:
        ordering_key = text_of(ordering_key)
    if owner is not None:
        owner = text_of(owner)
    if limit_key is not None:
        limit_key = text_of(limit_key)
    waited_seconds = waited / 1e6 if waited is not None and waited > 0 else 0.0
    return Job(
        job_id, public_id, queue, kind, key, payload, attempt, most, crashes, lease, ordering_key, owner, trace, limit_key,
        priority, run, waited_seconds,
    )  # fmt: skip


def _jobs(rows: Sequence[Sequence[Any]], want: Want) -> list[Job]:
    queue, worker, prefix = want.queue, want.worker, want.token + "-"
    return [job_of(row, queue, Lease(prefix + str(row[0]), worker)) for row in rows]


def claim(session: Session, backend: Backend, controls: Controls, want: Want) -> list[Job]:
    """At most `want.limit` jobs, now this worker's. Raises Stale if the snapshot is too old to decide by."""
    if session.reruns and (known := _already(session, want)):
        return known
    rule = controls.queue(want.queue)
    limited = controls.touches(want.kinds) or rule.concurrency is not None
    if rule.paused or want.limit < 1 or not want.kinds:
        rows: list[Any] = []
    elif limited:
        rows = admission.take(session, backend, controls, want)
    else:
        rows = backend.take(session, want)
    return answered(session, controls, rows, want)


def answered(session: Session, controls: Controls, rows: Sequence[Sequence[Any]], want: Want) -> list[Job]:
    """The jobs of these rows; none may mean that the claim went by an old snapshot."""
    if not rows:
        compare(session, controls)
    return _jobs(rows, want)


def _already(session: Session, want: Want) -> list[Job]:
    """A COMMIT whose answer was lost may have happened: then the rows carry our token."""
    query = f"SELECT {CLAIM_COLUMNS} FROM {{jobs}} WHERE worker = ? AND lease LIKE ? ORDER BY priority, id"
    return _jobs(session.rows(query, (want.worker, want.token + "-%")), want)


def want_of(
    controls: Controls, queue: str, kinds: Collection[str], limit: int, worker: str, public_id: str | None = None
) -> Want:
    """A claim with a token of its own, that goes by these pauses and limits."""
    return Want(
        queue=queue, kinds=tuple(kinds), limit=limit, worker=worker, token=new_token(), version=controls.version,
        public_id=public_id,
    )  # fmt: skip


def by(controls: Controls, want: Want) -> Want:
    """The same claim, by these pauses and limits."""
    return want if want.version == controls.version else want.but(version=controls.version)
