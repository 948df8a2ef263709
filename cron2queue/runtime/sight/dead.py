"""The dead, grouped by kind and error, over the newest of them: a million dead jobs are a few lines."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, select

from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.sight.jobs import JobFilter, conditions, impossible
from cron2queue.runtime.sight.queues import capped, names, priorities
from cron2queue.runtime.sight.views import COUNT_CAP, Count, DeadGroup, DeadView
from cron2queue.runtime.tables import Tables

MOST_GROUPS = 200
ERROR_LENGTH = 200
BATCH = 5_000  # dead jobs that one step of a walk looks at
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-fA-F]{12,}\b|\d+")


def folded(message: str) -> str:
    """The error without what differs from job to job: the first line, with numbers and ids as `#`."""
    first = next((line.strip() for line in message.splitlines() if line.strip()), "")
    return _VARYING.sub("#", first[: 2 * ERROR_LENGTH])[:ERROR_LENGTH]


def dead(connection: Connection, tables: Tables, wanted: JobFilter, cap: int = COUNT_CAP) -> DeadView:
    """The newest dead jobs that fit the filter, grouped; the filter's own states are not asked."""
    if impossible(wanted):
        return DeadView(groups=(), looked_at=0, total=Count())
    rows = _newest(connection, tables, wanted, cap)
    total = Count()
    for queue in _queues(connection, tables, wanted):
        jobs = tables.jobs.c
        total += capped(connection, select(jobs.id).where(jobs.queue == queue, jobs.state == JobState.DEAD), cap)
    filtered = bool(conditions(tables, wanted))
    groups = grouped(rows)
    return DeadView(
        groups=tuple(groups[:MOST_GROUPS]),
        looked_at=len(rows),
        total=Count(n=len(rows), capped=total.capped) if filtered else total,
    )


def _queues(connection: Connection, tables: Tables, wanted: JobFilter) -> list[str]:
    return [wanted.queue] if wanted.queue is not None else names(connection, tables)


def _newest(connection: Connection, tables: Tables, wanted: JobFilter, cap: int) -> list[Any]:
    """Up to `cap` dead jobs of each queue, those that were accepted last; each priority is a stretch of the claim index."""
    jobs = tables.jobs.c
    columns = (jobs.id, jobs.public_id, jobs.kind, jobs.message, jobs.finished_at)
    found: list[Any] = []
    for queue in _queues(connection, tables, wanted):
        rows: list[Any] = []
        for priority in priorities(connection, tables, queue, JobState.DEAD):
            here = (jobs.queue == queue, jobs.state == JobState.DEAD, jobs.priority == priority)
            newest = select(jobs.id).where(*here).order_by(jobs.id.desc()).limit(cap).subquery()
            chosen = select(*columns).join(newest, jobs.id == newest.c.id).where(*conditions(tables, wanted))
            rows += connection.execute(chosen).all()
        found += sorted(rows, key=lambda row: -row.id)[:cap]
    return found


def grouped(rows: Iterable[Any]) -> list[DeadGroup]:
    """Groups of rows (public_id, kind, message, finished_at), the largest first."""
    found: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        found.setdefault((row.kind, folded(row.message or "")), []).append(row)
    groups = [_group(kind, error, members) for (kind, error), members in found.items()]
    return sorted(groups, key=lambda group: (-group.count, group.kind, group.error))


def _group(kind: str, error: str, members: list[Any]) -> DeadGroup:
    times = sorted(row.finished_at for row in members if row.finished_at is not None)
    latest = max(members, key=lambda row: (row.finished_at is not None, row.finished_at))
    return DeadGroup(
        kind=kind,
        error=error,
        count=len(members),
        first=times[0] if times else None,
        last=times[-1] if times else None,
        example=latest.public_id,
    )


def ids(connection: Connection, tables: Tables, wanted: JobFilter) -> Iterator[str]:
    """Public ids of all dead jobs that fit, queue by queue, in the order in which they were accepted.

    Walks along the claim index past the dead alone, however many jobs have succeeded beside them.
    """
    if impossible(wanted):
        return
    jobs = tables.jobs.c
    for queue in _queues(connection, tables, wanted):
        for priority in priorities(connection, tables, queue, JobState.DEAD, most=sys.maxsize):
            here = (jobs.queue == queue, jobs.state == JobState.DEAD, jobs.priority == priority)
            yield from _walk(connection, tables, here, conditions(tables, wanted))


def _walk(
    connection: Connection, tables: Tables, here: Sequence[ColumnElement[bool]], asked: Sequence[ColumnElement[bool]]
) -> Iterator[str]:
    jobs = tables.jobs.c
    last = 0
    while True:
        stretch = select(jobs.id).where(*here, jobs.id > last).order_by(jobs.id).limit(BATCH).subquery()
        end = connection.execute(select(func.max(stretch.c.id))).scalar()
        if end is None:
            return
        chosen = select(jobs.id, jobs.public_id).join(stretch, jobs.id == stretch.c.id).where(*asked)
        yield from (row.public_id for row in sorted(connection.execute(chosen), key=lambda row: row.id))
        last = end
