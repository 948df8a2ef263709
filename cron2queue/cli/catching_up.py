"""`jobs catch-up`: ticks that nothing enqueued while cron, its host or the database was down, as each entry's plan wants it.

`missed = "skip"`: cron's own way, nothing is caught up. `"once"`: one job for however many ticks. `"all"`: a job for each,
the newest `missed-limit` of them, one after another. The key of a tick is its name and nominal time, so that a producer
that comes late, a second host or a second call make no second job.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from cron2queue.cli.operation import Operation
from cron2queue.cli.schedules import MOST_COUNTED, due_after, producing, zone_of
from cron2queue.cli.screens.canvas import as_json, put
from cron2queue.cli.screens.records import moment
from cron2queue.cli.screens.words import plural, shown
from cron2queue.errors import UsageError
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.producer import tick_of
from cron2queue.runtime.settings import JobSettings, Missed, Overlap
from cron2queue.runtime.store import Store
from cron2queue.runtime.verbs.ticking import Ticked, minute_of, to_catch_up


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """What was done for one entry: ticks that were missed, and the jobs that were made for some of them."""

    name: str
    policy: Missed
    missed: int
    jobs: tuple[str, ...]


def catch_up(operation: Operation, format: str) -> None:
    """Enqueue what was missed, and say so."""
    if operation.settings is None:
        raise UsageError("there is no plan to look schedules up in", remedy="name it with --plan cron2queue.toml")
    with operation.inspection() as inspection:
        now = inspection.now()
    with operation.store() as store:
        done = [each for job in producing(operation) if (each := _caught_up(operation, store, job, now)) is not None]
    if format == "json":
        put(as_json({"schema": 1, "at": moment(now), "entries": [_record(each) for each in done]}))
        return
    put("\n".join(_sentence(each) for each in done) or "nothing was missed")


def _caught_up(operation: Operation, store: Store, job: JobSettings, now: datetime) -> CaughtUp | None:
    last = store.last_tick(tick_of(job, now))
    if last is None:
        return None
    due = [minute_of(fire) for fire in islice(due_after(job, last, now, zone_of(operation)), MOST_COUNTED)]
    if not due:
        return None
    chosen = to_catch_up(due, last, now, job.missed, job.missed_limit) if job.missed is not Missed.SKIP else []
    made = tuple(each.enqueued.public_id for each in _ticked(store, job, chosen) if each.enqueued is not None)
    return CaughtUp(name=job.name, policy=job.missed, missed=len(due), jobs=made)


def _ticked(store: Store, job: JobSettings, chosen: list[datetime]) -> Iterator[Ticked]:
    template = NewJob(kind=job.kind, queue=job.queue, priority=job.priority, max_attempts=job.max_attempts)
    for nominal in chosen:
        tick = tick_of(job, nominal)
        in_order = job.missed is Missed.ALL and tick.overlap is not Overlap.PARALLEL
        yield store.tick(replace(tick, overlap=Overlap.QUEUE) if in_order else tick, template)


def _sentence(done: CaughtUp) -> str:
    what = f"{plural(len(done.jobs), 'job')} enqueued" if done.jobs else "none enqueued"
    return f"{shown(done.name)}: {plural(done.missed, 'tick')} missed, {what} (missed = {done.policy})"


def _record(done: CaughtUp) -> dict[str, object]:
    return {"entry": done.name, "policy": str(done.policy), "missed": done.missed, "jobs": list(done.jobs)}
