"""The vocabulary of the job table: states, their allowed transitions as data, jobs, leases and outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final


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
    run_at: datetime | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's claim on one job: a random token that every later write must name."""

    token: str
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A claimed job. `attempt` counts from 1; `run` counts all claims of its life, requeues included."""

    id: int
    public_id: str
    queue: str
    kind: str
    key: str | None
    payload_text: str
    attempt: int
    max_attempts: int
    crashes: int
    lease: Lease
    ordering_key: str | None
    owner: str | None
    trace_context: str | None
    created_at: datetime
    run_at: datetime
    limit_key: str | None = None
    priority: int = 100
    run: int = 1
    waited_seconds: float = 0.0  # from runnable to claimed, by the database's clock

    @property
    def idempotency_key(self) -> str:
        """The same in every attempt: what a foreign system needs to recognise a repetition."""
        return self.public_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The work is done. `result_ref` says where its result is kept."""

    result_ref: str | None = None
    message: str = ""
    diagnostic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAt:
    """Failed, and worth another try: after `delay_seconds`, or by the kind's policy if None.

    `pause_kind_seconds` keeps the whole kind back for so long (a foreign system said Retry-After).
    """

    delay_seconds: float | None = None
    pause_kind_seconds: float | None = None
    message: str = ""
    diagnostic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp:
    """Failed, and no further try can help."""

    reason: str
    message: str = ""
    diagnostic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """Stopped on request."""

    message: str = ""
    diagnostic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """The child (or its worker) died under it. Counted apart from failures."""

    reason: str
    message: str = ""
    diagnostic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """Given back before its handler began, or at shutdown; uses no attempt."""

    message: str = ""
    diagnostic: str = ""


Outcome = Done | RetryAt | GiveUp | Cancelled | Crashed | Released


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """What is kept of one finished attempt. Seconds come from monotonic clocks, never from wall clocks."""

    started_at: datetime | None = None
    ended_at: datetime | None = None
    wait_seconds: float | None = None
    run_seconds: float | None = None
    exit_status: int | None = None
    signal: int | None = None
    max_rss_bytes: int | None = None
    output_tail: str = ""
    outcome_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How one claimed job ended. `retry_delay` (seconds) is what the worker worked out for RetryAt or Crashed."""

    job: Job
    outcome: Outcome
    retry_delay: float | None = None
    record: AttemptRecord = AttemptRecord()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """A job taken back from a worker that stood still: what it became."""

    id: int
    public_id: str
    kind: str
    queue: str
    state: JobState
    crashes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerInfo:
    """What a worker says of itself when it registers; `token` is random and never used twice."""

    token: str
    host: str
    pid: int
    version: str
    kinds: Sequence[str]
    queues: Sequence[str]
