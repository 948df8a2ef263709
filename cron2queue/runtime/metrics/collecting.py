"""What Prometheus gets: the list of metrics, and their samples from one status and the roll-ups.

Labels are of low cardinality by rule: queue, kind, state, outcome, entry, host, cause; never a job's id, key or owner.
docs/reference/metrics.md is this list.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cron2queue.runtime.distributions import cumulative
from cron2queue.runtime.metrics.exposition import Family, Sample
from cron2queue.runtime.sight.views import StatusView, Total
from cron2queue.runtime.verbs.given_up import SERIES


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its labels and what it says."""

    name: str
    type: Literal["gauge", "counter", "histogram"]
    labels: tuple[str, ...]
    help: str


QUEUE, KIND = ("queue",), ("queue", "kind")
METRICS: tuple[Metric, ...] = (
    Metric("cron2queue_up", "gauge", (), "1 when the database answered this look, 0 when not."),
    Metric("cron2queue_jobs", "gauge", ("queue", "state"), "Jobs by state; counted up to 100000 a state."),
    Metric("cron2queue_oldest_ready_seconds", "gauge", QUEUE, "How long the oldest ready job has waited; 0 when none waits."),
    Metric("cron2queue_oldest_ready_limit_seconds", "gauge", QUEUE, "How long it may wait."),
    Metric("cron2queue_depth_limit", "gauge", QUEUE, "Jobs that may wait; above it producers are refused."),
    Metric("cron2queue_concurrency_limit", "gauge", QUEUE, "Jobs that may run at one time, over all workers."),
    Metric("cron2queue_paused", "gauge", QUEUE, "1 while an operator has paused the queue."),
    Metric("cron2queue_workers", "gauge", QUEUE, "Living workers that serve the queue."),
    Metric("cron2queue_silent_workers", "gauge", (), "Registered workers that have stopped beating."),
    Metric("cron2queue_worker_memory_bytes", "gauge", ("host",), "Resident memory of the living workers of a host."),
    Metric("cron2queue_unclaimed_jobs", "gauge", KIND, "Ready jobs of a kind that no living worker of the queue knows."),
    Metric("cron2queue_missed_ticks", "gauge", ("entry",), "Ticks of an entry that were due and have not come."),
    Metric("cron2queue_last_tick_timestamp_seconds", "gauge", ("entry",), "Nominal time of the last tick that came."),
    Metric("cron2queue_clock_skew_seconds", "gauge", (), "This host's clock minus the database's."),
    Metric("cron2queue_database_connections", "gauge", (), "Open connections to the database server."),
    Metric("cron2queue_enqueued_total", "counter", (), "Jobs accepted since the table was made."),
    Metric("cron2queue_refused_total", "counter", KIND, "Jobs not accepted because their queue was full or too late."),
    Metric("cron2queue_duplicates_total", "counter", KIND, "Enqueues answered with a job of the same key that was there."),
    Metric("cron2queue_attempts_total", "counter", (*KIND, "outcome"), "Finished attempts by how they ended."),
    Metric("cron2queue_retried_total", "counter", KIND, "Failed attempts that are tried again."),
    Metric("cron2queue_dead_total", "counter", KIND, "Jobs that became dead."),
    Metric("cron2queue_rescued_total", "counter", KIND, "Jobs taken back from a worker that stood still."),
    Metric("cron2queue_lease_lost_total", "counter", KIND, "Writes refused because the lease had gone to another worker."),
    Metric(
        "cron2queue_foreign_errors_total", "counter", (*KIND, "cause"), "Foreign systems' 429, 502, 503, 504 and time-outs."
    ),
    Metric(
        "cron2queue_dead_letters_total",
        "counter",
        (*KIND, "cause"),
        "Messages that Celery's broker gave up, as the relay took them.",
    ),
    Metric(
        "cron2queue_worker_cpu_seconds_total",
        "counter",
        ("host",),
        "CPU time of this host's living workers and their children.",
    ),
    Metric("cron2queue_wait_seconds", "histogram", KIND, "From runnable to begun."),
    Metric("cron2queue_run_seconds", "histogram", KIND, "From begun to ended, each attempt."),
)
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
_COUNTERS = ("refused", "duplicates", "retried", "dead", "rescued", "lease_lost")  # series that are a counter each


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the status does not hold."""

    totals: Sequence[Total] = ()
    last_ticks: Mapping[str, datetime] | None = None
    enqueued: int | None = None
    connections: int | None = None
    cpu_seconds: Mapping[str, float] | None = None


def families(status: StatusView, facts: Facts) -> Iterator[Family]:
    """Every metric that has a value now."""
    yield _family("cron2queue_up", [((), 1.0)])
    yield from _queue_gauges(status)
    yield from _worker_gauges(status)
    yield from _host_gauges(status, facts)
    yield from _counters(facts.totals)
    yield _histogram("cron2queue_wait_seconds", "wait", facts.totals)
    yield _histogram("cron2queue_run_seconds", "run", facts.totals)


def down() -> Iterator[Family]:
    """What is said while the database is away: an alert needs a 0, not a gap."""
    yield _family("cron2queue_up", [((), 0.0)])


def _family(name: str, samples: Iterable[tuple[tuple[str, ...], float]]) -> Family:
    metric = BY_NAME[name]
    made = tuple(Sample(labels=dict(zip(metric.labels, labels, strict=True)), value=value) for labels, value in samples)
    return Family(name=name, type=metric.type, help=metric.help, samples=made)


def _queue_gauges(status: StatusView) -> Iterator[Family]:
    queues = status.queues
    yield _family(
        "cron2queue_jobs", [((queue.queue, state), count.n) for queue in queues for state, count in queue.counts.items()]
    )
    yield _family("cron2queue_oldest_ready_seconds", [((queue.queue,), queue.oldest_ready_seconds or 0.0) for queue in queues])
    for name, limits in (
        ("cron2queue_oldest_ready_limit_seconds", [(queue.queue, queue.age_limit) for queue in queues]),
        ("cron2queue_depth_limit", [(queue.queue, queue.depth_limit) for queue in queues]),
        ("cron2queue_concurrency_limit", [(queue.queue, queue.concurrency) for queue in queues]),
    ):
        yield _family(name, [((queue,), float(limit)) for queue, limit in limits if limit is not None])
    yield _family("cron2queue_paused", [((queue.queue,), float(queue.paused)) for queue in queues])


def _worker_gauges(status: StatusView) -> Iterator[Family]:
    alive = [worker for worker in status.workers if worker.alive]
    serving = {queue.queue: 0 for queue in status.queues} | {queue: 0 for worker in alive for queue in worker.queues}
    memory: dict[str, int] = {}
    for worker in alive:
        memory[worker.host] = memory.get(worker.host, 0) + (worker.rss_bytes or 0)
        for queue in worker.queues:
            serving[queue] += 1
    yield _family("cron2queue_workers", [((queue,), n) for queue, n in serving.items()])
    yield _family("cron2queue_silent_workers", [((), len(status.workers) - len(alive))])
    yield _family("cron2queue_worker_memory_bytes", [((host,), n) for host, n in memory.items()])


def _host_gauges(status: StatusView, facts: Facts) -> Iterator[Family]:
    yield _family("cron2queue_unclaimed_jobs", [((each.queue, each.kind), each.jobs.n) for each in status.unclaimed])
    yield _family("cron2queue_missed_ticks", [((tick.name,), tick.missed) for tick in status.missed])
    ticks = (facts.last_ticks or {}).items()
    cpu = (facts.cpu_seconds or {}).items()
    yield _family("cron2queue_worker_cpu_seconds_total", [((host,), seconds) for host, seconds in cpu])
    yield _family("cron2queue_last_tick_timestamp_seconds", [((entry,), at.timestamp()) for entry, at in ticks])
    for name, value in (
        ("cron2queue_clock_skew_seconds", status.clock_skew),
        ("cron2queue_database_connections", facts.connections),
        ("cron2queue_enqueued_total", facts.enqueued),
    ):
        yield _family(name, [] if value is None else [((), float(value))])


def _counters(totals: Sequence[Total]) -> Iterator[Family]:
    """Series are named `outcome:done`, `foreign:429`, `retried`, ...; see verbs.tally."""
    split = [(total, *total.series.partition(":")[::2]) for total in totals]
    outcomes = [((total.queue, total.kind, label), float(total.n)) for total, name, label in split if name == "outcome"]
    yield _family("cron2queue_attempts_total", outcomes)
    never = dict.fromkeys(
        ((total.queue, total.kind) for total, name, _ in split if name != SERIES), 0.0
    )  # else the first one is no increase
    for series in _COUNTERS:
        found = {(total.queue, total.kind): float(total.n) for total in totals if total.series == series}
        yield _family(f"cron2queue_{series}_total", (never | found).items())
    causes = [((total.queue, total.kind, label), float(total.n)) for total, name, label in split if name == "foreign"]
    yield _family("cron2queue_foreign_errors_total", causes)
    letters = [((total.queue, total.kind, label), float(total.n)) for total, name, label in split if name == SERIES]
    yield _family("cron2queue_dead_letters_total", letters)


def _histogram(name: str, series: str, totals: Sequence[Total]) -> Family:
    metric = BY_NAME[name]
    rungs: dict[tuple[str, str], list[tuple[int, int]]] = {}
    sums: dict[tuple[str, str], int] = {}
    for total in totals:
        if total.series == series:
            rungs.setdefault((total.queue, total.kind), []).append((total.rung, total.n))
        elif total.series == f"{series}_us":
            sums[total.queue, total.kind] = total.n
    made = [sample for labels, counts in rungs.items() for sample in _buckets(labels, counts, sums.get(labels, 0) / 1e6)]
    return Family(name=name, type=metric.type, help=metric.help, samples=tuple(made))


def _buckets(labels: tuple[str, str], counts: Sequence[tuple[int, int]], total: float) -> Iterator[Sample]:
    own = {"queue": labels[0], "kind": labels[1]}
    n = sum(count for _, count in counts)
    for bound, below in cumulative(counts):
        yield Sample(labels={**own, "le": f"{bound:g}"}, value=below, suffix="_bucket")
    yield Sample(labels={**own, "le": "+Inf"}, value=n, suffix="_bucket")
    yield Sample(labels=own, value=total, suffix="_sum")
    yield Sample(labels=own, value=n, suffix="_count")
