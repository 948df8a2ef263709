"""The vocabulary of the job table: states, their allowed transitions as data, and what a producer says of a job.

The states stand in `states`, what only workers speak of (leases, outcomes, settlements) in `runs`; both are offered here as
well, and not loaded by a producer that cron starts each minute.
"""

from __future__ import annotations

from cron2queue.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from cron2queue.runtime.runs import (
        PLAINLY_DONE,
        AttemptRecord,
        Cancelled,
        Crashed,
        Done,
        GiveUp,
        Job,
        Lease,
        Outcome,
        Released,
        Rescued,
        RetryAt,
        Settlement,
        WorkerInfo,
    )
    from cron2queue.runtime.states import ENDED, HELD, MAX_CRASHES, TRANSITIONS, WAITING, JobState, sources

__all__ = [
    "ENDED",
    "HELD",
    "MAX_CRASHES",
    "PLAINLY_DONE",
    "TRANSITIONS",
    "WAITING",
    "AttemptRecord",
    "Cancelled",
    "Crashed",
    "Done",
    "Enqueued",
    "Forever",
    "GiveUp",
    "Job",
    "JobState",
    "Lease",
    "NewJob",
    "Outcome",
    "Period",
    "Released",
    "Rescued",
    "RetryAt",
    "Settlement",
    "UniqueScope",
    "WhileActive",
    "WorkerInfo",
    "sources",
]


class WhileActive(Record):
    """Unique until the job has ended (or is dead)."""


class Period(Record):
    """Unique for so many seconds from the enqueue, whatever becomes of the job."""

    seconds: float


class Forever(Record):
    """Unique until the row is pruned."""


UniqueScope = WhileActive | Period | Forever


class NewJob(Record):
    """A job as its producer asks for it.

    `key` makes it idempotent: the same (kind, key) within the scope of `unique` is one row. `priority`: lower first.
    `run_at` must be aware; None means at once. `max_attempts` counts runs, the first included. Jobs of one
    `ordering_key` run one at a time in the order of their acceptance. `limit_key` names the bucket of a limit by key
    (the job's own key if None). `public_id` is given only to repeat an enqueue whose outcome is unknown.
    """

    kind: str
    payload: Any = None
    key: str | None = None
    queue: str = "default"
    priority: int = 100
    run_at: datetime | None = None
    max_attempts: int = 8
    unique: UniqueScope = WhileActive()
    ordering_key: str | None = None
    owner: str | None = None
    trace_context: str | None = None
    limit_key: str | None = None
    public_id: str | None = None


class Enqueued(Record):
    """What an enqueue answers: the row, and whether it was there already."""

    id: int
    public_id: str
    duplicate: bool


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        from cron2queue.runtime import states

        if name in vars(states):
            return vars(states)[name]
        from cron2queue.runtime import runs

        if name in vars(runs):
            return vars(runs)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
