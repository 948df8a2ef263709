"""Lists of jobs, newest first, that stay quick with ten million rows: every step reads a bounded stretch of an index.

Without a state, the newest jobs are walked by primary key. With states, each (queue, state, priority) is a stretch of the
claim index, read from its newest end. With an owner, the owner's own index is walked, and nothing is missed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.sight.jobs import JobFilter, conditions, impossible, view
from cron2queue.runtime.sight.queues import names, priorities
from cron2queue.runtime.sight.views import JobView
from cron2queue.runtime.tables import Tables

LOOKED_AT = 20_000  # rows of one stretch that a filter looks at


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Jobs, newest first. `more`: there are further ones. `partial`: older jobs were not looked at."""

    jobs: tuple[JobView, ...]
    more: bool = False
    partial: bool = False


def listing(connection: Connection, tables: Tables, wanted: JobFilter) -> Listing:
    """The newest jobs that fit the filter."""
    if impossible(wanted):
        return Listing(jobs=())
    before = _number(connection, tables, wanted)
    ids, partial = _ids(connection, tables, wanted, before)
    newest = sorted(set(ids), reverse=True)
    rows = connection.execute(
        select(tables.jobs).where(tables.jobs.c.id.in_(newest[: wanted.limit])).order_by(tables.jobs.c.id.desc())
    ).all()
    return Listing(jobs=tuple(view(row) for row in rows), more=len(newest) > wanted.limit, partial=partial)


def _number(connection: Connection, tables: Tables, wanted: JobFilter) -> int | None:
    """The row number of the last job already seen, found through the same owner filter."""
    if wanted.before_id is None:
        return None
    mine = conditions(tables, JobFilter(owner=wanted.owner))
    jobs = tables.jobs.c
    return connection.execute(select(jobs.id).where(jobs.public_id == wanted.before_id, *mine)).scalar() or 0


def _ids(connection: Connection, tables: Tables, wanted: JobFilter, before: int | None) -> tuple[list[int], bool]:
    if wanted.owner is not None or not wanted.states:
        return _by_number(connection, tables, wanted, before)
    stretches = list(_stretches(connection, tables, wanted, before))
    found = [each for ids, _ in stretches for each in ids]
    return found, any(partial for _, partial in stretches)


def _by_number(connection: Connection, tables: Tables, wanted: JobFilter, before: int | None) -> tuple[list[int], bool]:
    jobs = tables.jobs.c
    fitting = select(jobs.id).where(*conditions(tables, wanted))
    if before is not None:
        fitting = fitting.where(jobs.id < before)
    floor = 0 if wanted.owner is not None else _floor(connection, tables, before)
    if floor:
        fitting = fitting.where(jobs.id > floor)
    ids = list(connection.execute(fitting.order_by(jobs.id.desc()).limit(wanted.limit + 1)).scalars())
    return ids, len(ids) <= wanted.limit and _is_left(connection, tables, floor)


def _is_left(connection: Connection, tables: Tables, floor: int) -> bool:
    """Whether there is any job below the floor: numbers begin high in a table that has been pruned."""
    jobs = tables.jobs.c
    return floor > 0 and connection.execute(select(jobs.id).where(jobs.id <= floor).limit(1)).scalar() is not None


def _floor(connection: Connection, tables: Tables, before: int | None) -> int:
    """The number below which no job is looked at: the one so many rows before the newest."""
    jobs = tables.jobs.c
    top = before if before is not None else (connection.execute(select(func.max(jobs.id))).scalar() or 0)
    return max(0, int(top) - LOOKED_AT)


def _stretches(
    connection: Connection, tables: Tables, wanted: JobFilter, before: int | None
) -> Iterator[tuple[Sequence[int], bool]]:
    for queue in [wanted.queue] if wanted.queue is not None else names(connection, tables):
        for state in wanted.states:
            for priority in priorities(connection, tables, queue, state):
                yield _stretch(connection, tables, wanted, _newest(tables, queue, state, priority, before))


def _newest(tables: Tables, queue: str, state: JobState, priority: int, before: int | None) -> Select[tuple[Any]]:
    jobs = tables.jobs.c
    here = select(jobs.id).where(jobs.queue == queue, jobs.state == state, jobs.priority == priority)
    return (here if before is None else here.where(jobs.id < before)).order_by(jobs.id.desc())


def _stretch(
    connection: Connection, tables: Tables, wanted: JobFilter, newest: Select[tuple[Any]]
) -> tuple[Sequence[int], bool]:
    """Ids that fit among the newest of one stretch, and whether the stretch was too long to look at all of it."""
    if wanted == JobFilter(queue=wanted.queue, states=wanted.states, before_id=wanted.before_id, limit=wanted.limit):
        return connection.execute(newest.limit(wanted.limit + 1)).scalars().all(), False  # everything here fits
    fitting = newest.where(*conditions(tables, wanted))
    floor = connection.execute(newest.offset(LOOKED_AT).limit(1)).scalar()
    if floor is not None:
        fitting = fitting.where(tables.jobs.c.id > floor)
    ids = connection.execute(fitting.limit(wanted.limit + 1)).scalars().all()
    return ids, floor is not None and len(ids) <= wanted.limit
