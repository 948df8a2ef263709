"""A claimed job on its way to a child."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cron2queue.runtime.jobs import Job, Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A job and its number: the supervisor counts what it hands out, so that no stop can reach the wrong job."""

    number: int
    job: Job

    def to_wire(self) -> list[Any]:
        """The form that goes over the wire."""
        job = self.job
        return [
            self.number,
            job.id,
            job.public_id,
            job.queue,
            job.kind,
            job.key,
            job.payload_text,
            job.attempt,
            job.max_attempts,
            job.crashes,
            job.lease.token,
            job.lease.worker,
            job.ordering_key,
            job.owner,
            job.trace_context,
            job.created_at.timestamp(),
            job.run_at.timestamp(),
            job.limit_key,
            job.run,
            job.waited_seconds,
        ]

    @classmethod
    def from_wire(cls, fields: list[Any]) -> "Work":
        """The inverse of `to_wire`."""
        number, identity, public_id, queue, kind, key, payload, attempt, max_attempts, crashes = fields[:10]
        token, worker, ordering_key, owner, trace, created, run_at, limit_key, run, waited = fields[10:]
        job = Job(
            id=identity,
            public_id=public_id,
            queue=queue,
            kind=kind,
            key=key,
            payload_text=payload,
            attempt=attempt,
            max_attempts=max_attempts,
            crashes=crashes,
            lease=Lease(token=token, worker=worker),
            ordering_key=ordering_key,
            owner=owner,
            trace_context=trace,
            created_at=datetime.fromtimestamp(created, UTC),
            run_at=datetime.fromtimestamp(run_at, UTC),
            limit_key=limit_key,
            run=run,
            waited_seconds=waited,
        )
        return cls(number=number, job=job)
