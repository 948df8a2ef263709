"""A claimed job on its way to a child."""

from typing import Any, NamedTuple

from cron2queue.runtime.jobs import Job, Lease


class Work(NamedTuple):
    """A job and its number: the supervisor counts what it hands out, so that no stop can reach the wrong job."""

    number: int
    job: Job

    def to_wire(self) -> tuple[int, list[Any]]:
        """As `handed` takes it."""
        fields: list[Any] = [*self.job]
        fields[_LEASE] = tuple(self.job.lease)
        return self.number, fields

    @classmethod
    def from_wire(cls, fields: tuple[int, list[Any]]) -> "Work":
        """What `to_wire` made."""
        number, job = fields
        job[_LEASE] = Lease(*job[_LEASE])
        return cls(number, Job(*job))


_LEASE = Job._fields.index("lease")
