"""`jobs catch-up`: ticks that nothing enqueued while cron, its host or the database was down, as each entry's plan wants it.

`missed = "skip"`: cron's own way, nothing is caught up. `"once"`: one job for however many ticks. `"all"`: a job for each,
the newest `missed-limit` of them, one after another. The key of a tick is its name and nominal time, so that a producer
that comes late, a second host or a second call make no second job.
"""

from dataclasses import dataclass
from datetime import datetime

from cron2queue.cli.operation import Operation
from cron2queue.cli.schedules import job_of, missing, producing
from cron2queue.cli.screens.canvas import as_json, put
from cron2queue.cli.screens.records import moment
from cron2queue.cli.screens.words import plural, shown
from cron2queue.errors import UsageError
from cron2queue.runtime.settings import JobSettings, Missed
from cron2queue.runtime.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtUp:
    """What was done for one entry: ticks that were missed, jobs made for some of them, and how many another made."""

    name: str
    policy: Missed
    missed: int
    jobs: tuple[str, ...]
    known: int


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
    found = missing(operation, store, job, now)
    if not found.missed:
        return None
    answers = [ticked.enqueued for tick in found.wanted if (ticked := store.tick(tick, job_of(job))).enqueued is not None]
    made = tuple(each.public_id for each in answers if not each.duplicate)
    return CaughtUp(name=job.name, policy=job.missed, missed=found.missed, jobs=made, known=len(answers) - len(made))


def _sentence(done: CaughtUp) -> str:
    what = f"{plural(len(done.jobs), 'job')} enqueued" if done.jobs else "none enqueued"
    what += f", {done.known} by another" if done.known else ""
    return f"{shown(done.name)}: {plural(done.missed, 'tick')} missed, {what} (missed = {done.policy})"


def _record(done: CaughtUp) -> dict[str, object]:
    return {"entry": done.name, "policy": str(done.policy), "missed": done.missed, "jobs": list(done.jobs)}
