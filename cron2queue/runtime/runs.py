"""What workers say of a job: the lease on it, how an attempt ended, and what is kept of it.

What there is one of for each job is a tuple with names: thousands a second are made, and a frozen dataclass costs five times
as much.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from cron2queue.runtime.database.instants import seconds
from cron2queue.runtime.states import JobState


class Lease(NamedTuple):
    """A worker's claim on one job: a random token that every later write must name."""

    token: str
    worker: str


class Job(NamedTuple):
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
    ordering_key: str | None = None
    owner: str | None = None
    trace_context: str | None = None
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
    """Given back before its handler began, or at shutdown; uses no attempt. `delay_seconds`: it cannot be run before."""

    message: str = ""
    diagnostic: str = ""
    delay_seconds: float = 0.0


PLAINLY_DONE: Final = Done()
Outcome = Done | RetryAt | GiveUp | Cancelled | Crashed | Released


class AttemptRecord(NamedTuple):
    """What is kept of one finished attempt. Seconds come from monotonic clocks, never from wall clocks."""

    wait_seconds: float | None = None
    run_seconds: float | None = None
    exit_status: int | None = None
    signal: int | None = None
    max_rss_bytes: int | None = None
    output_tail: str = ""
    outcome_name: str = ""


class Settlement(NamedTuple):
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


class Plain(NamedTuple):
    """An attempt that ended well, with nothing to say but in how many seconds (by the worker's own clock)."""

    job_id: int
    run: int
    attempt: int
    waited_seconds: float
    seconds: float

    def record(self, claim: str, worker: str) -> tuple[Any, ...]:
        """What is kept of it, as in keep_records."""
        row: tuple[Any, ...] = (self.job_id, self.run, self.attempt, claim + str(self.job_id), worker, "done", None, None)
        return (*row, self.waited_seconds, self.seconds, None, None, None, None, seconds(self.seconds))
