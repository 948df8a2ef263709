"""What `cron2queue enqueue` does beyond the lean producer: it knows the schedules, and so what was missed."""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from cron2queue.cli.operation import Operation
    from cron2queue.runtime.producer import Wish


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
    from cron2queue.cli.schedules import in_turn, missing, producing
    from cron2queue.runtime.settings import Missed

    job = next((each for each in producing(where) if each.name == name), None)
    if wish.tick is None or job is None or job.missed is not Missed.ALL:
        yield wish
        return
    with where.store() as store:
        before = [tick for tick in missing(where, store, job, now).wanted if tick.nominal < wish.tick.nominal]
    for tick in before:
        yield wish.but(tick=tick, job=wish.job.but(public_id=None))
    yield wish.but(tick=in_turn(job, wish.tick)) if before else wish


def _all_missed(where: "Operation", now: datetime) -> Iterator["Wish"]:
    """One wish for each tick that was missed, of every job whose plan does not skip them."""
    from cron2queue.cli.schedules import job_of, missing, producing
    from cron2queue.runtime.producer import Wish

    for job in producing(where):
        with where.store() as store:
            wanted = missing(where, store, job, now).wanted
        for tick in wanted:
            yield Wish(url=where.url, prefix=where.prefix, job=job_of(job), tick=tick)
