"""What an operator sees: plain values, read by `inspection`, drawn by the screens, the page, `check` and the metrics.

All times are aware UTC, all durations are seconds. Text that came from jobs is as it was stored: whoever shows it
makes it safe for the place where it is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from cron2queue.durations import duration

COUNT_CAP = 10_000  # counting stops here: a screen must stay quick with ten million rows
WINDOW_SECONDS = 3600  # "by kind" figures are about the last hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of rows; `capped` means that there are more than `n`."""

    n: int = 0
    capped: bool = False

    def __str__(self) -> str:
        return f">{self.n:,}" if self.capped else f"{self.n:,}"

    def __add__(self, other: "Count") -> "Count":
        return Count(n=self.n + other.n, capped=self.capped or other.capped)


NONE = Count()


@dataclass(frozen=True, slots=True, kw_only=True)
class KindView:
    """One kind in one queue over the last hour; None where nothing was measured."""

    kind: str
    wait_p50: float | None = None
    wait_p95: float | None = None
    run_p50: float | None = None
    run_p95: float | None = None
    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    dead: int = 0

    @property
    def error_rate(self) -> float | None:
        """Share of attempts that failed; None when there was no attempt."""
        attempts = self.succeeded + self.failed
        return self.failed / attempts if attempts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """One queue: how long the oldest ready job has waited against its limit, and what lies in it."""

    queue: str
    paused: bool = False
    paused_by: str | None = None
    paused_seconds: float | None = None
    oldest_ready_seconds: float | None = None
    age_limit: float | None = None
    depth_limit: int | None = None
    concurrency: int | None = None
    counts: Mapping[str, Count]
    due: Count = NONE  # scheduled jobs whose time has come: no worker has made them ready yet
    kinds: tuple[KindView, ...] = ()
    refused: int = 0  # jobs of the last hour that found the queue full
    duplicates: int = 0  # jobs of the last hour that were there already
    lease_lost: int = 0  # writes of the last hour refused because the lease had gone to another worker

    def count(self, state: str) -> Count:
        """Jobs of the queue in this state."""
        return self.counts.get(state, NONE)

    @property
    def held(self) -> Count:
        """Jobs in the hands of a worker, whether it still lives or not."""
        return self.count("running") + self.count("cancel_requested")

    @property
    def waiting(self) -> Count:
        """What the depth limit is about: everything that is accepted and not begun."""
        return self.count("ready") + self.count("scheduled") + self.count("blocked")

    @property
    def pause(self) -> str:
        """`paused`, for how long and by whom, as far as it is known; empty while the queue goes on."""
        if not self.paused:
            return ""
        since = f" for {duration(self.paused_seconds)}" if self.paused_seconds is not None else ""
        return f"paused{since}" + (f" by {self.paused_by}" if self.paused_by else "")

    @property
    def over_age(self) -> bool:
        """The oldest ready job waits longer than this queue may let one wait."""
        return self.age_limit is not None and (self.oldest_ready_seconds or 0.0) > self.age_limit

    @property
    def over_depth(self) -> bool:
        """There are at least as many jobs as the queue may hold: new ones are refused."""
        return self.depth_limit is not None and self.waiting.n >= self.depth_limit

    @property
    def urgency(self) -> tuple[bool, float, str]:
        """Sort key, worst first: over a limit, then by how much of its limit the oldest job has used up."""
        used = (self.oldest_ready_seconds or 0.0) / (self.age_limit or 900.0)
        return (not (self.over_age or self.over_depth), -used, self.queue)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningView:
    """One job that a worker runs now."""

    id: str
    kind: str
    key: str | None
    queue: str
    seconds: float | None
    fraction: float | None = None
    phase: str | None = None
    cancel_requested: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerView:
    """One registered worker, or the relay of Celery; `alive` while its last beat is younger than the lease time."""

    worker: str
    host: str
    pid: int
    version: str
    queues: tuple[str, ...]
    kinds: tuple[str, ...]
    alive: bool
    beat_age: float | None
    rss_bytes: int | None
    started_at: datetime | None
    running: tuple[RunningView, ...] = ()
    holds: Count = NONE

    @property
    def is_relay(self) -> bool:
        """A worker serves a queue at least."""
        return not self.queues


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimedKind:
    """Ready jobs of a kind that no living worker of their queue knows (an old worker in a rolling deploy, a typo)."""

    queue: str
    kind: str
    jobs: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedKind:
    """A kind that is held back for so many seconds more, as a foreign system or an operator asked."""

    kind: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedTick:
    """A producer that did not come although its schedule says so."""

    name: str
    schedule: str
    due: datetime
    missed: int
    last_seen: datetime | None
    queue: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadGroup:
    """Dead jobs that share kind and error; ids and numbers in the error are folded to `#`."""

    kind: str
    error: str
    count: int
    first: datetime | None
    last: datetime | None
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterCount:
    """Messages of one queue that the broker gave up for one reason in the last hour; `-` is no queue of the plan."""

    queue: str
    reason: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterGroup:
    """Messages that the broker gave up and that share kind and reason. `became`: how many went how.

    `example` is a job's public id, empty where no job was named.
    """

    kind: str
    reason: str
    count: int
    last: datetime | None
    example: str
    became: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LettersView:
    """Since when, grouped. `not_listed`: how many were only counted; `partial`: older ones were not looked at."""

    since: datetime
    groups: tuple[LetterGroup, ...] = ()
    not_listed: int = 0
    partial: bool = False

    @property
    def total(self) -> int:
        """All of them."""
        return self.not_listed + sum(group.count for group in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadView:
    """The dead, grouped. `looked_at` is less than all when there are more than the newest that were read."""

    groups: tuple[DeadGroup, ...]
    looked_at: int
    total: Count

    @property
    def partial(self) -> bool:
        """Whether there are more than were looked at."""
        return self.total.capped or self.looked_at < self.total.n


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """One finished attempt. `diagnostic` and `output_tail` are for operators only."""

    attempt: int
    worker: str | None
    started_at: datetime | None
    ended_at: datetime | None
    outcome: str
    exit_status: int | None = None
    signal: int | None = None
    wait_seconds: float | None = None
    run_seconds: float | None = None
    max_rss_bytes: int | None = None
    message: str = ""
    diagnostic: str = ""
    output_tail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """One job as an operator sees it. `id` is the public id; the number of the row is nobody's business."""

    id: str
    kind: str
    key: str | None
    queue: str
    state: str
    attempts: int
    max_attempts: int
    crashes: int = 0
    priority: int = 100
    run_at: datetime | None = None
    created_at: datetime | None = None
    ready_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    cancel_requested_by: str | None = None
    fraction: float | None = None
    phase: str | None = None
    owner: str | None = None
    worker: str | None = None
    ordering_key: str | None = None
    result: str | None = None
    message: str = ""
    payload: str = ""
    history: tuple[AttemptView, ...] = ()
    actions: tuple["ActionView", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionView:
    """What an operator did: who, what, to what, when."""

    at: datetime | None
    by: str
    action: str
    target: str
    details: str = ""


class Total(NamedTuple):
    """One row of the roll-ups since ever: `series` is a name of `verbs.tally`, `rung` a step of the ladder or 0."""

    queue: str
    kind: str
    series: str
    rung: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusView:
    """Everything on the one screen, read in one short look."""

    at: datetime
    database: str
    queues: tuple[QueueView, ...]
    workers: tuple[WorkerView, ...] = ()
    unclaimed: tuple[UnclaimedKind, ...] = ()
    missed: tuple[MissedTick, ...] = ()
    paused_kinds: tuple[PausedKind, ...] = ()
    dead: tuple[DeadGroup, ...] = ()
    dead_looked_at: int | None = None  # so many of the newest are in the groups; None: all
    dead_letters: tuple[LetterCount, ...] = ()
    clock_skew: float | None = None  # this host's clock minus the database's, in seconds
