"""Shadow mode looked at: what cron really ran of an entry, against what the queue would have run in its place.

Cron's side is evidence of the old line's starts; the queue's side are the jobs that the producer's ticks made and the
shadow handler took. Both are paired by time. What only one side has is told with its time, and with its reason where
there is one. Nothing is judged outside of the time that both sides cover.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from cron2queue.plan.blocks import found_blocks
from cron2queue.runtime.settings import Overlap

if TYPE_CHECKING:
    from cron2queue.cutover.journal import Step

WIDEST = timedelta(minutes=5)
"""A job this far from a start is never its twin, however rarely the entry runs."""
LATE = timedelta(minutes=1)
"""Cron and its producer come within the minute; what is younger than that at the end of the evidence is not missing yet."""
LEAVING_OUT = (Overlap.SKIP, Overlap.MERGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowTime:
    """When an entry stood in shadow: from `since`, until `until` or still."""

    name: str
    target: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CronRun:
    """One start by cron; `ended` None where no evidence tells."""

    started: datetime
    ended: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowJob:
    """One job of the queue. `due`: the minute of its tick; `started`, `finished`: of the shadow handler, None so far."""

    due: datetime
    started: datetime | None = None
    finished: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One entry on both sides, within `since` and `until`.

    `only_cron` are starts without a job, of which `left_out` came while the job before was not done: the overlap rule left
    them out. `only_queue` are jobs without a start. `late` are seconds from cron's start to the handler's, of each pair that
    has both. `would_skip`: of cron's runs with a known end, how many the overlap rule would have left out, had each taken as
    long in the queue; None where too few ends are known to say so.
    """

    name: str
    since: datetime
    until: datetime
    cron: int
    queue: int
    both: int
    only_cron: tuple[datetime, ...]
    only_queue: tuple[datetime, ...]
    left_out: int
    waiting: int
    late: tuple[float, ...]
    would_skip: int | None = None
    shared: bool = False
    """Other entries look the same in the log, so that their starts could not be told apart."""

    @property
    def alike(self) -> bool:
        """Whether each start has its job, each job its start, and each job was taken."""
        return not (self.only_cron or self.only_queue or self.waiting)

    @property
    def late_median(self) -> float | None:
        """Seconds; None without a pair."""
        return median(self.late) if self.late else None

    @property
    def late_most(self) -> float | None:
        """The largest offset in either direction, in seconds; None without a pair."""
        return max(self.late, key=abs) if self.late else None


def shadow_times(steps: Iterable[Step]) -> dict[str, ShadowTime]:
    """The last time that each entry stood in shadow, by name, as the journal tells."""
    found: dict[str, ShadowTime] = {}
    for step in steps:
        if step.state != "done":
            continue
        at = datetime.fromisoformat(step.at)
        standing = {name for name, content in step.blocks.items() if _is_shadow(content)}
        for name, known in found.items():
            if known.target == step.target and known.until is None and name not in standing:
                found[name] = ShadowTime(name=name, target=known.target, since=known.since, until=at)
        for name in standing:
            if name not in found or found[name].until is not None:
                found[name] = ShadowTime(name=name, target=step.target, since=at)
    return found


def _is_shadow(content: str) -> bool:
    return any(block.shadow for block in found_blocks(content.encode("utf-8", "surrogateescape")))


def _tolerance(gap: timedelta | None) -> timedelta:
    return WIDEST if gap is None else min(WIDEST, gap / 2)


def batched(jobs: Iterable[ShadowJob], gap: timedelta | None) -> list[ShadowJob]:
    """The item jobs that one run of a split entry's producer made, as one: begun with its first item, done with its last."""
    batches: list[list[ShadowJob]] = []
    for job in sorted(jobs, key=lambda each: each.due):
        if not batches or job.due - batches[-1][0].due > _tolerance(gap):
            batches.append([])
        batches[-1].append(job)
    return [_whole(batch) for batch in batches]


def _whole(batch: Sequence[ShadowJob]) -> ShadowJob:
    begun = [job.started for job in batch if job.started is not None]
    ended = [job.finished for job in batch if job.finished is not None]
    return ShadowJob(
        due=batch[0].due,
        started=min(begun) if len(begun) == len(batch) else None,
        finished=max(ended) if len(ended) == len(batch) else None,
    )


Pairs = tuple[list[tuple[CronRun, ShadowJob]], list[CronRun], list[ShadowJob]]


def paired(runs: Sequence[CronRun], jobs: Sequence[ShadowJob], tolerance: timedelta) -> Pairs:
    """Each start with the job of its tick, and what is left on either side; both come in the order of time."""
    pairs: list[tuple[CronRun, ShadowJob]] = []
    lone_runs: list[CronRun] = []
    lone_jobs: list[ShadowJob] = []
    left, right = list(reversed(runs)), list(reversed(jobs))
    while left and right:
        apart = left[-1].started - right[-1].due
        if abs(apart) <= tolerance:
            pairs.append((left.pop(), right.pop()))
        elif apart < timedelta():
            lone_runs.append(left.pop())
        else:
            lone_jobs.append(right.pop())
    return pairs, [*lone_runs, *reversed(left)], [*lone_jobs, *reversed(right)]


def _in_the_way(run: CronRun, jobs: Sequence[ShadowJob]) -> bool:
    """Whether an earlier job was not done when this start's tick came."""
    return any(job.due < run.started and (job.finished is None or job.finished > run.started) for job in jobs)


def _would_skip(runs: Sequence[CronRun], overlap: Overlap) -> int | None:
    """How many starts met the run before, as the queue would count: a start that is left out makes no run of its own."""
    known = [run for run in runs if run.ended is not None]
    if overlap not in LEAVING_OUT or len(known) < len(runs) / 2 or not known:
        return None
    busy, skipped = datetime.min.replace(tzinfo=UTC), 0
    for run in runs:
        if run.started < busy:
            skipped += 1
        elif run.ended is not None:
            busy = run.ended
    return skipped


def compare(
    name: str,
    runs: Sequence[CronRun],
    jobs: Sequence[ShadowJob],
    *,
    since: datetime,
    until: datetime,
    gap: timedelta | None,
    overlap: Overlap,
    shared: bool = False,
) -> Comparison:
    """Both sides of one entry, from `since` on and no later than `until`; `gap` is the shortest time between two starts."""
    first, tolerance = since.replace(second=0, microsecond=0), _tolerance(gap)
    held = sorted((job for job in jobs if first <= job.due <= until), key=lambda job: job.due)
    seen = sorted((run for run in runs if since <= run.started <= until), key=lambda run: run.started)
    pairs, lone_runs, lone_jobs = paired(seen, held, tolerance)
    # At the very end the other side may only be late.
    lone_runs = [run for run in lone_runs if run.started + LATE <= until]
    lone_jobs = [job for job in lone_jobs if job.due + LATE <= until]
    judged = [*(job for _, job in pairs), *lone_jobs]
    skipping = overlap in LEAVING_OUT
    return Comparison(
        name=name,
        since=since,
        until=until,
        cron=len(pairs) + len(lone_runs),
        queue=len(judged),
        both=len(pairs),
        only_cron=tuple(run.started for run in lone_runs),
        only_queue=tuple(job.due for job in lone_jobs),
        left_out=sum(_in_the_way(run, held) for run in lone_runs) if skipping else 0,
        waiting=sum(job.started is None for job in judged),
        late=tuple((job.started - run.started).total_seconds() for run, job in pairs if job.started is not None),
        would_skip=_would_skip(seen, overlap),
        shared=shared,
    )
