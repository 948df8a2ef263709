"""Queues: which there are, how much lies in each state, and how long the oldest ready job has waited."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, literal, select

from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.sight.views import COUNT_CAP, Count, PausedKind
from cron2queue.runtime.tables import Tables

MOST_QUEUES = 500
MOST_PRIORITIES = 1_000
COUNTED = (
    *(JobState.READY, JobState.SCHEDULED, JobState.BLOCKED, JobState.RUNNING),
    *(JobState.CANCEL_REQUESTED, JobState.DEAD),
)
_HEADS = 500  # rows of each priority that are looked at when a queue is too long to look at every row
_MOST_HEADS = 20


def names(connection: Connection, tables: Tables) -> list[str]:
    """All queues with a job or a row of their own, by a walk along the index: one step a queue, not one a job."""
    found = set(connection.execute(select(tables.queues.c.name).limit(MOST_QUEUES)).scalars())
    column, last = tables.jobs.c.queue, ""
    while len(found) < MOST_QUEUES:
        following = connection.execute(select(func.min(column)).where(column > last)).scalar()
        if following is None:
            break
        found.add(following)
        last = following
    return sorted(found)


def priorities(
    connection: Connection, tables: Tables, queue: str, state: JobState, *, most: int = MOST_PRIORITIES
) -> Iterator[int]:
    """The priorities in one (queue, state), by a walk along the index: one step a priority."""
    jobs = tables.jobs.c
    last: int | None = None
    for _ in range(most):
        beyond = () if last is None else (jobs.priority > last,)
        last = connection.execute(
            select(func.min(jobs.priority)).where(jobs.queue == queue, jobs.state == state, *beyond)
        ).scalar()
        if last is None:
            return
        yield last


def capped(connection: Connection, rows: Select[Any], cap: int = COUNT_CAP) -> Count:
    """How many rows, counted no further than the cap."""
    n = connection.execute(select(func.count()).select_from(rows.limit(cap + 1).subquery())).scalar_one()
    return Count(n=min(n, cap), capped=n > cap)


def counts(connection: Connection, tables: Tables, queue: str, cap: int = COUNT_CAP) -> Mapping[str, Count]:
    """Jobs of the queue by state, each counted along the claim index and no further than the cap."""
    jobs = tables.jobs.c
    numbers = [
        select(func.count())
        .select_from(select(literal(1)).where(jobs.queue == queue, jobs.state == state).limit(cap + 1).subquery())
        .scalar_subquery()
        .label(state)
        for state in COUNTED
    ]
    row = connection.execute(select(*numbers)).one()
    return {state: Count(n=min(n, cap), capped=n > cap) for state, n in zip(COUNTED, row, strict=True)}


def oldest_ready(connection: Connection, tables: Tables, queue: str, ready: Count) -> datetime | None:
    """Since when the oldest ready job waits. Exact up to the cap; above it, the oldest among the heads of all priorities."""
    jobs = tables.jobs.c
    here = (jobs.queue == queue, jobs.state == JobState.READY)
    since = func.coalesce(jobs.ready_at, jobs.created_at)
    if not ready.n:
        return None
    if ready.n <= COUNT_CAP and not ready.capped:
        return connection.execute(select(func.min(since)).where(*here)).scalar()
    heads = (
        select(since.label("since")).where(*here, jobs.priority == priority).order_by(jobs.id).limit(_HEADS).subquery()
        for priority in priorities(connection, tables, queue, JobState.READY, most=_MOST_HEADS)
    )
    oldest = (connection.execute(select(func.min(head.c.since))).scalar() for head in heads)
    return min((each for each in oldest if each is not None), default=None)


def due(connection: Connection, tables: Tables, now: datetime) -> Mapping[str, tuple[datetime, Count]]:
    """By queue: since when scheduled jobs are due, and how many. Workers make them ready; where none lives, they stay.

    Among the oldest up to the cap, all queues together.
    """
    jobs = tables.jobs.c
    oldest = select(jobs.queue, jobs.due_at).where(jobs.due_at <= now).order_by(jobs.due_at).limit(COUNT_CAP + 1).subquery()
    found = select(oldest.c.queue, func.min(oldest.c.due_at), func.count()).group_by(oldest.c.queue)
    rows = connection.execute(found).all()
    capped = sum(n for _, _, n in rows) > COUNT_CAP
    return {queue: (since, Count(n=n, capped=capped)) for queue, since, n in rows}


def settings(connection: Connection, tables: Tables) -> Mapping[str, Any]:
    """The rows of the queues table: pauses and limits."""
    return {row.name: row for row in connection.execute(select(tables.queues).limit(MOST_QUEUES))}


def ready_kinds(connection: Connection, tables: Tables, queue: str) -> Mapping[str, int]:
    """Kinds among the first ready jobs of the queue. What nobody claims stays in front, so that it is seen here."""
    jobs = tables.jobs.c
    first = select(jobs.kind).where(jobs.queue == queue, jobs.state == JobState.READY)
    head = first.order_by(jobs.priority, jobs.id).limit(COUNT_CAP).subquery()
    return {row.kind: row.n for row in connection.execute(select(head.c.kind, func.count().label("n")).group_by(head.c.kind))}


def paused_kinds(connection: Connection, tables: Tables, now: datetime) -> tuple[PausedKind, ...]:
    """Kinds that are held back until a known time, the longest first."""
    limits = tables.limits.c
    chosen = select(limits.name, limits.paused_until).where(limits.scope == "kind", limits.paused_until > now)
    rows = connection.execute(chosen.order_by(limits.paused_until.desc()).limit(MOST_QUEUES))
    return tuple(PausedKind(kind=row.name, seconds=(row.paused_until - now).total_seconds()) for row in rows)
