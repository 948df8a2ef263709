"""The vocabulary of the job table: states, their allowed transitions as data, and what a producer says of a job.

What only workers speak of (leases, outcomes, settlements) stands in `runs` and is offered here as well: a producer that
cron starts each minute does not load it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from datetime import datetime

    from cron2queue.runtime.runs import (
        AttemptRecord as AttemptRecord,
    )
    from cron2queue.runtime.runs import (
        Cancelled as Cancelled,
    )
    from cron2queue.runtime.runs import (
        Crashed as Crashed,
    )
    from cron2queue.runtime.runs import (
        Done as Done,
    )
    from cron2queue.runtime.runs import (
        GiveUp as GiveUp,
    )
    from cron2queue.runtime.runs import (
        Job as Job,
    )
    from cron2queue.runtime.runs import (
        Lease as Lease,
    )
    from cron2queue.runtime.runs import (
        Outcome as Outcome,
    )
    from cron2queue.runtime.runs import (
        Released as Released,
    )
    from cron2queue.runtime.runs import (
        Rescued as Rescued,
    )
    from cron2queue.runtime.runs import (
        RetryAt as RetryAt,
    )
    from cron2queue.runtime.runs import (
        Settlement as Settlement,
    )
    from cron2queue.runtime.runs import (
        WorkerInfo as WorkerInfo,
    )


class JobState(StrEnum):
    """Where a job is in its life. `succeeded`, `dead` and `cancelled` are ends; *accepted* is never shown as *done*."""

    SCHEDULED = "scheduled"
    READY = "ready"
    BLOCKED = "blocked"
    RUNNING = "running"
    CANCEL_REQUESTED = "cancel_requested"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"


_S = JobState

# Every change of state that may be written, with the reason for it. Guards, tests and the picture in the docs come from here.
TRANSITIONS: Final[Mapping[tuple[JobState, JobState], str]] = {
    (_S.SCHEDULED, _S.READY): "its time has come",
    (_S.SCHEDULED, _S.CANCELLED): "cancelled before it began",
    (_S.SCHEDULED, _S.BLOCKED): "due, but its kind or key is at its limit",
    (_S.READY, _S.RUNNING): "claimed by a worker",
    (_S.READY, _S.BLOCKED): "its kind or key is at its limit",
    (_S.READY, _S.SCHEDULED): "its kind is paused or over its rate until a known time",
    (_S.READY, _S.CANCELLED): "cancelled before it began",
    (_S.BLOCKED, _S.READY): "the job before it has ended, or a slot is free",
    (_S.BLOCKED, _S.SCHEDULED): "its turn has come before its time",
    (_S.BLOCKED, _S.CANCELLED): "cancelled before it began",
    (_S.RUNNING, _S.SUCCEEDED): "done",
    (_S.RUNNING, _S.SCHEDULED): "failed, to be tried again later",
    (_S.RUNNING, _S.READY): "released unused, or rescued from a crash",
    (_S.RUNNING, _S.DEAD): "given up, attempts used up, or crashed too often",
    (_S.RUNNING, _S.CANCEL_REQUESTED): "asked to stop",
    (_S.RUNNING, _S.CANCELLED): "its handler stopped of its own accord",
    (_S.CANCEL_REQUESTED, _S.CANCELLED): "stopped as asked, or ended without success",
    (_S.CANCEL_REQUESTED, _S.SUCCEEDED): "was done before it could stop",
    (_S.CANCEL_REQUESTED, _S.DEAD): "given up before it could stop",
    (_S.DEAD, _S.READY): "requeued by an operator; attempts start anew",
    (_S.DEAD, _S.SCHEDULED): "requeued by an operator, spread over time",
    (_S.DEAD, _S.BLOCKED): "requeued by an operator, behind others of its ordering key",
}

HELD: Final = frozenset({_S.RUNNING, _S.CANCEL_REQUESTED})  # a worker has a lease on it
WAITING: Final = frozenset({_S.SCHEDULED, _S.READY, _S.BLOCKED})  # not begun, or to be begun again
ENDED: Final = frozenset({_S.SUCCEEDED, _S.DEAD, _S.CANCELLED})

MAX_CRASHES: Final = 3  # a job that took its worker down this often is dead, however many attempts are left


def sources(to: JobState) -> tuple[JobState, ...]:
    """The states from which a job may become `to`, in the order of the enum."""
    return tuple(state for state in JobState if (state, to) in TRANSITIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhileActive:
    """Unique until the job has ended (or is dead)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Unique for so many seconds from the enqueue, whatever becomes of the job."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Forever:
    """Unique until the row is pruned."""


UniqueScope = WhileActive | Period | Forever


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
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
    run_at: "datetime | None" = None
    max_attempts: int = 8
    unique: UniqueScope = WhileActive()
    ordering_key: str | None = None
    owner: str | None = None
    trace_context: str | None = None
    limit_key: str | None = None
    public_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Enqueued:
    """What an enqueue answers: the row, and whether it was there already."""

    id: int
    public_id: str
    duplicate: bool


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        from cron2queue.runtime import runs

        if name in vars(runs):
            return vars(runs)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
