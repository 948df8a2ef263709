"""Claim: which jobs a worker gets, under pauses and limits."""

from collections.abc import Collection, Sequence
from typing import Any

from cron2queue.runtime.backend import CLAIM_COLUMNS, Backend, Want
from cron2queue.runtime.database.exact import random_hex, text_of
from cron2queue.runtime.database.instants import from_micros
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import Job, Lease
from cron2queue.runtime.limits import Controls, compare
from cron2queue.runtime.verbs import admission


def new_token() -> str:
    """A token that nobody can guess and nobody else has."""
    return random_hex(12)


def job_of(row: Sequence[Any], want: Want) -> Job:
    """A claimed row as a Job."""
    ready_at, started_at = row[16], row[18]
    return Job(
        id=int(row[0]),
        public_id=row[1],
        queue=row[2],
        kind=row[3],
        key=text_of(row[4]),
        payload_text=row[5],
        attempt=row[6],
        max_attempts=row[7],
        crashes=row[8],
        run=row[9],
        lease=Lease(token=want.lease(int(row[0])), worker=want.worker),
        ordering_key=text_of(row[10]),
        owner=text_of(row[11]),
        trace_context=row[12],
        created_at=from_micros(row[13]),
        run_at=from_micros(row[14]),
        limit_key=text_of(row[15]),
        priority=row[17],
        waited_seconds=max(0, started_at - ready_at) / 1e6 if ready_at is not None else 0.0,
    )


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
    if not rows:
        compare(session, controls)
    return [job_of(row, want) for row in rows]


def _already(session: Session, want: Want) -> list[Job]:
    """A COMMIT whose answer was lost may have happened: then the rows carry our token."""
    query = f"SELECT {CLAIM_COLUMNS} FROM {{jobs}} WHERE worker = ? AND lease LIKE ? ORDER BY priority, id"
    return [job_of(row, want) for row in session.rows(query, (want.worker, want.token + "-%"))]


def want_of(queue: str, kinds: Collection[str], limit: int, worker: str, public_id: str | None = None) -> Want:
    """A claim with a token of its own."""
    return Want(queue=queue, kinds=tuple(kinds), limit=limit, worker=worker, token=new_token(), public_id=public_id)
