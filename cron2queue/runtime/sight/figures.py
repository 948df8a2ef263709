"""Figures by kind over the last hour: from the attempts of the jobs that ended last and of those that wait for a retry.

A sample of the newest is enough for percentiles however many jobs there were. Counts are those of the roll-ups that the
workers keep, where these are higher: the sample may end before the hour does, and misses what a job went through that runs
again. Roll-ups come some seconds late, and a worker that is killed takes its last ones with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from cron2queue.runtime.distributions import percentile
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.sight.views import WINDOW_SECONDS, KindView, Total
from cron2queue.runtime.tables import Tables

SAMPLE = 4_000  # jobs
MOST_TOTALS = 200_000
DUE_LOOKED_AT = 10_000  # scheduled jobs among which retries are looked for
_CHUNK = 500
SUCCESS = frozenset({"done"})
NEUTRAL = frozenset({"cancelled", "released"})  # neither done nor failed


class Attempt(NamedTuple):
    """What counts of one attempt."""

    queue: str
    kind: str
    outcome: str
    wait: float | None
    run: float | None
    last_of_dead: bool


def recent(connection: Connection, tables: Tables, now: datetime, seconds: float = WINDOW_SECONDS) -> tuple[Attempt, ...]:
    """The newest attempts within the window."""
    since = now - timedelta(seconds=seconds)
    jobs = tables.jobs.c
    columns = (jobs.id, jobs.queue, jobs.kind, jobs.state)
    ended = select(*columns).where(jobs.finished_at >= since).order_by(jobs.finished_at.desc()).limit(SAMPLE)
    soon = select(jobs.id).where(jobs.due_at.is_not(None)).order_by(jobs.due_at).limit(DUE_LOOKED_AT).subquery()
    waiting = select(*columns).join(soon, jobs.id == soon.c.id).where(jobs.attempts > 0).limit(SAMPLE)
    found = [*connection.execute(ended).all(), *connection.execute(waiting).all()]
    return tuple(_attempts(connection, tables, found, since))


def _attempts(connection: Connection, tables: Tables, found: Sequence[Any], since: datetime) -> Iterator[Attempt]:
    done = tables.attempts.c
    by_id = {row.id: row for row in found}
    ids = list(by_id)
    columns = (done.job_id, done.run, done.outcome, done.wait_seconds, done.run_seconds)
    for start in range(0, len(ids), _CHUNK):
        chosen = select(*columns).where(done.job_id.in_(ids[start : start + _CHUNK]), done.ended_at >= since)
        rows = connection.execute(chosen.order_by(done.job_id, done.run)).all()
        last_run = {row.job_id: row.run for row in rows}
        for row in rows:
            job = by_id[row.job_id]
            died = job.state == JobState.DEAD and row.run == last_run[row.job_id]
            yield Attempt(job.queue, job.kind, row.outcome, row.wait_seconds, row.run_seconds, died)


def by_kind(
    recent: Iterable[Attempt], counted: Mapping[tuple[str, str], Mapping[str, int]]
) -> Mapping[str, tuple[KindView, ...]]:
    """By queue, its kinds with their figures; `counted` are the roll-ups of the window by (queue, kind)."""
    grouped: dict[tuple[str, str], list[Attempt]] = {key: [] for key in counted}
    for attempt in recent:
        grouped.setdefault((attempt.queue, attempt.kind), []).append(attempt)
    views: dict[str, list[KindView]] = {}
    for (queue, kind), attempts in sorted(grouped.items()):
        views.setdefault(queue, []).append(_view(kind, attempts, counted.get((queue, kind), {})))
    return {queue: tuple(kinds) for queue, kinds in views.items()}


def _view(kind: str, attempts: Sequence[Attempt], counted: Mapping[str, int]) -> KindView:
    waits = [(attempt.wait, 1) for attempt in attempts if attempt.wait is not None]
    runs = [(attempt.run, 1) for attempt in attempts if attempt.run is not None and attempt.outcome != "released"]
    own = counts(attempts)
    number = {name: max(own[name], counted.get(name, 0)) for name in own}
    return KindView(
        kind=kind,
        wait_p50=percentile(waits, 0.5),
        wait_p95=percentile(waits, 0.95),
        run_p50=percentile(runs, 0.5),
        run_p95=percentile(runs, 0.95),
        **number,
    )


def counts(attempts: Iterable[Attempt]) -> dict[str, int]:
    """How the attempts ended: every failed one was tried again or was the last of a dead job."""
    succeeded = failed = dead = 0
    for attempt in attempts:
        if attempt.outcome in SUCCESS:
            succeeded += 1
        elif attempt.outcome not in NEUTRAL:
            failed += 1
            dead += attempt.last_of_dead
    return {"succeeded": succeeded, "failed": failed, "retried": failed - dead, "dead": dead}


def rolled_up(connection: Connection, tables: Tables, now: datetime) -> Mapping[tuple[str, str], Mapping[str, int]]:
    """Counts of the last hour from the roll-ups, by (queue, kind)."""
    rolled = tables.rollups.c
    start = int(now.timestamp()) - WINDOW_SECONDS
    names = ("succeeded", "failed", "retried", "dead")
    rows = connection.execute(
        select(rolled.queue, rolled.kind, rolled.series, func.sum(rolled.n).label("n"))
        .where(rolled.period > start, rolled.series.in_(names))
        .group_by(rolled.queue, rolled.kind, rolled.series)
    )
    found: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows:
        found.setdefault((row.queue, row.kind), {})[row.series] = int(row.n)
    return found


def counted(connection: Connection, tables: Tables, now: datetime, series: Sequence[str]) -> Mapping[tuple[str, str], int]:
    """Sums over the last hour, all kinds together, by (queue, series); what was not counted is not there."""
    rolled = tables.rollups.c
    start = int(now.timestamp()) - WINDOW_SECONDS
    rows = connection.execute(
        select(rolled.queue, rolled.series, func.sum(rolled.n).label("n"))
        .where(rolled.period > start, rolled.series.in_(series))
        .group_by(rolled.queue, rolled.series)
    )
    return {(row.queue, row.series): int(row.n) for row in rows}


def totals(connection: Connection, tables: Tables) -> list[Total]:
    """The sums since ever, for the metrics."""
    rolled = tables.rollups.c
    columns = (rolled.queue, rolled.kind, rolled.series, rolled.rung, rolled.n)
    order = (rolled.kind, rolled.queue, rolled.series, rolled.rung)
    rows = connection.execute(select(*columns).where(rolled.period == 0).order_by(*order).limit(MOST_TOTALS))
    return [Total(row.queue, row.kind, row.series, row.rung, int(row.n)) for row in rows]
