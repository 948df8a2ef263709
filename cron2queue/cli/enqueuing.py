"""What `cron2queue enqueue` does beyond the lean producer: it knows the schedules, and so what was missed."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from cron2queue.cli.operation import Operation
    from cron2queue.runtime.producer import Wish
    from cron2queue.runtime.settings import JobSettings
    from cron2queue.runtime.store import Store

_MOST = 100_000


def enqueue(options: Mapping[str, Any], *, missed: bool, plan: Path | None, database: str | None) -> None:
    """Enqueue one job, or what every job of the plan has missed; print an answer a job."""
    from cron2queue.cli.operation import nearest, operation
    from cron2queue.runtime.producer import Options, carry_out, wish_of

    where = operation(database, plan)
    now = datetime.now(UTC)
    if missed:
        wishes = _all_missed(where, now)
    else:
        found = plan or nearest(Path.cwd())
        given = Options(**options, plan=found, database=where.url, prefix=where.prefix)
        wishes = _with_missed(where, wish_of(given, environment=os.environ, now=now), options["name"], now)
    for wish in wishes:
        said = carry_out(wish)
        if not options["quiet"]:
            typer.echo(said)


def _with_missed(where: "Operation", wish: "Wish", name: str | None, now: datetime) -> Iterator["Wish"]:
    """The wish itself; a tick comes after those that its plan wants all of. (`once` is done by the tick itself.)"""
    from cron2queue.runtime.settings import Missed

    job = where.settings.jobs.get(name) if where.settings is not None and name is not None else None
    if wish.tick is not None and job is not None and job.missed is Missed.ALL:
        with closing(_store(where)) as store:
            times = [nominal for nominal in _missed(where, store, job, now) if nominal < wish.tick.nominal]
        for nominal in times:
            yield replace(wish, tick=replace(wish.tick, nominal=nominal), job=replace(wish.job, public_id=None))
    yield wish


def _all_missed(where: "Operation", now: datetime) -> Iterator["Wish"]:
    """One wish for each tick that was missed, of every job whose plan does not skip them."""
    from cron2queue.runtime.jobs import NewJob
    from cron2queue.runtime.producer import Wish, tick_of

    for job in where.settings.jobs.values() if where.settings is not None else ():
        with closing(_store(where)) as store:
            times = _missed(where, store, job, now)
        for nominal in times:
            template = NewJob(kind=job.kind, queue=job.queue, priority=job.priority, max_attempts=job.max_attempts)
            yield Wish(url=where.url, prefix=where.prefix, job=template, tick=tick_of(job, nominal))


def _store(where: "Operation") -> "Store":
    from cron2queue.runtime.store import Store

    return Store.open(where.url, prefix=where.prefix)


def _missed(where: "Operation", store: "Store", job: "JobSettings", now: datetime) -> list[datetime]:
    """Nominal times since the last tick that the plan wants to be made up for."""
    from cron2queue.cli.schedules import PRODUCING, due_after, zone_of
    from cron2queue.runtime.producer import tick_of
    from cron2queue.runtime.settings import Missed
    from cron2queue.runtime.verbs.ticking import to_catch_up

    if job.missed is Missed.SKIP or not job.schedule or job.decision not in PRODUCING:
        return []
    last = store.last_tick(tick_of(job, now))
    if last is None:
        return []
    fires = list(islice(due_after(job, last, now, zone_of(where)), _MOST))
    return to_catch_up(fires, last, now, job.missed, job.missed_limit)
