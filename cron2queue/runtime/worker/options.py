"""How a worker is to behave: one frozen value, made from the command line, the plan and the defaults."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cron2queue.runtime.retention import Retention
from cron2queue.runtime.settings import QueueSettings

GROUP = 100


DEFAULT_RECYCLE_JOBS = 50_000
DEFAULT_RECYCLE_BYTES = 512 * 2**20
DEFAULT_RECYCLE_SECONDS = 6 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recycling:
    """When a child is replaced after a job: number of jobs, resident bytes, age in seconds."""

    jobs: int = DEFAULT_RECYCLE_JOBS
    rss_bytes: int = DEFAULT_RECYCLE_BYTES
    seconds: float = DEFAULT_RECYCLE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds. All workers of a database need the same `lease`; a beat is due each sixth part of it.

    `settle` bounds how long a finished job of a short kind waits to be committed together with others. A hint may come
    before the commit that it tells of is seen, so the looks after it begin `first_poll` apart and double up to `poll`.
    """

    lease: float = 30.0
    poll: float = 1.0
    first_poll: float = 0.001
    settle: float = 0.005
    move: float = 1.0
    cancel: float = 1.0
    reconcile: float = 60.0
    prune: float = 900.0

    @property
    def beat(self) -> float:
        """How often the counter is raised."""
        return self.lease / 6

    @property
    def fence(self) -> float:
        """So long after the last beat that went through, the worker ends its own children."""
        return self.lease * 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """One worker. `queues`: how many of its jobs this worker runs at one time; `grace`: seconds for a stop.

    Without `queues` it works on every queue of a kind that it knows, as wide as `widths` says; 0 `children` are as many
    as that makes sense of, at most two a processor. `limits` are the plan's, for all workers together.
    """

    database: str
    prefix: str = "c2q_"
    plan: Path | None = None
    modules: tuple[str, ...] = ()
    queues: Mapping[str, int] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, QueueSettings] = field(default_factory=dict)
    children: int = 0
    threads: int = 16
    drain: bool = False
    grace: float = 30.0
    group: int = GROUP
    timing: Timing = Timing()
    recycling: Recycling = Recycling()
    retention: Retention = field(default_factory=Retention)
