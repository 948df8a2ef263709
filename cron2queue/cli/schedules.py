"""Whether the producers came: what the plan's schedules say was due, against the ticks that the database has seen.

A missed tick is one that was due since the entry's last tick and has not come. An entry that has never come at all is
told apart: it may not be applied yet, and only the crontab knows.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import Calendar, Interval
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.plan_tables import Misplaced
from cron2queue.runtime.producer import tick_of
from cron2queue.runtime.settings import JobSettings, Missed, Overlap
from cron2queue.runtime.sight.views import MissedTick
from cron2queue.runtime.verbs.ticking import Tick, minute_of, to_catch_up

if TYPE_CHECKING:
    from cron2queue.cli.operation import Operation
    from cron2queue.runtime.sight.inspection import Inspection
    from cron2queue.runtime.store import Store

GRACE = timedelta(seconds=150)  # cron starts within the minute, a slow database is waited for
OUT_OF_SERVICE = timedelta(days=7)
MOST_COUNTED = 10_000
FARTHEST = timedelta(days=366)  # an entry that stood still for longer is not made up for from its beginning
PRODUCING = ("queue", "split")


def missed_ticks(operation: "Operation", inspection: "Inspection") -> tuple[MissedTick, ...]:
    """Every entry of the plan whose producer has stopped coming; by host, where each host has its own."""
    jobs = producing(operation)
    if not jobs:
        return ()
    ticks, now, zone = inspection.ticks(), inspection.now(), zone_of(operation)
    found = (_missed(job, entry, last, now, zone) for job in jobs for entry, last in _living(places(job, ticks)).items())
    return tuple(tick for tick in found if tick is not None)


def places(job: JobSettings, ticks: Mapping[str, datetime]) -> dict[str, datetime]:
    """The entries of a job that have ticked: its name, or NAME@HOST for each host that has its own."""
    return {entry: last for entry, last in ticks.items() if entry == job.name or entry.startswith(f"{job.name}@")}


def _living(found: dict[str, datetime]) -> dict[str, datetime]:
    """Without hosts that were silent for a week while another went on: they were taken out of service."""
    newest = max(found.values(), default=None)
    return {entry: last for entry, last in found.items() if newest is not None and newest - last < OUT_OF_SERVICE}


def never_came(operation: "Operation", ticks: Mapping[str, datetime]) -> list[str]:
    """Entries of the plan of which no tick has ever been seen."""
    return [job.name for job in producing(operation) if not places(job, ticks)]


def producing(operation: "Operation") -> list[JobSettings]:
    """The jobs of the plan that a producer enqueues by a schedule."""
    jobs = operation.settings.jobs.values() if operation.settings else ()
    return [job for job in jobs if job.decision in PRODUCING and job.schedule]


def zone_of(operation: "Operation") -> tzinfo:
    """The plan's zone, or the host's."""
    name = operation.settings.project.timezone if operation.settings else None
    if name is None:
        return datetime.now().astimezone().tzinfo or UTC
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        with operation.placed():
            said = f"project.timezone: there is no time zone {name!r:.80}"
            raise Misplaced(said, remedy="write one like Europe/Berlin", table="project", key="timezone") from None


def _missed(job: JobSettings, entry: str, last: datetime, now: datetime, zone: tzinfo) -> MissedTick | None:
    due = list(islice(due_after(job, last, now - GRACE, zone), MOST_COUNTED))
    if not due:
        return None
    return MissedTick(name=entry, schedule=job.schedule or "", due=due[0], missed=len(due), last_seen=last, queue=job.queue)


def due_after(job: JobSettings, last: datetime, until: datetime, zone: tzinfo) -> Iterator[datetime]:
    """When its schedule should have started the job after `last` and not later than `until`, as the daemon counts.

    `zone` is the daemon's; a schedule may have one of its own.
    """
    file = parse(
        f"{job.schedule or ''} true\n".encode("utf-8", "surrogateescape"),
        path="plan",
        dialect=dialect_named("debian"),
        kind=Kind.USER,
    )
    start = last + timedelta(minutes=1)
    for entry in file.entries[:1]:
        schedule = entry.schedule
        if isinstance(schedule, Calendar):
            schedule = replace(schedule, zone=job.zone)
        if isinstance(schedule, Calendar | Interval) and start < until:
            yield from (fire.at.astimezone(UTC) for fire in schedule.fires_between(start, until, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What one entry has missed: how many ticks, and those of them that its plan wants to be enqueued now, oldest first."""

    missed: int
    wanted: tuple[Tick, ...]


def missing(operation: "Operation", store: "Store", job: JobSettings, now: datetime) -> Missing:
    """By the plan's rule `missed`. The ticks of `all` wait for one another, whatever its overlap rule says."""
    last = store.last_tick(tick_of(job, now))
    if last is None:
        return Missing(missed=0, wanted=())
    count, newest = 0, deque[datetime](maxlen=max(MOST_COUNTED, job.missed_limit))
    for fire in due_after(job, max(last, now - FARTHEST), now, zone_of(operation)):
        count += 1
        newest.append(minute_of(fire))
    wanted = to_catch_up(newest, last, now, job.missed, job.missed_limit) if job.missed is not Missed.SKIP else []
    return Missing(missed=count, wanted=tuple(in_turn(job, tick_of(job, nominal)) for nominal in wanted))


def in_turn(job: JobSettings, tick: Tick) -> Tick:
    """One of several ticks of an entry that are enqueued at once: none of `all` stands in the way of the next."""
    waits = job.missed is Missed.ALL and tick.overlap is not Overlap.PARALLEL
    return tick.but(overlap=Overlap.QUEUE) if waits else tick


def job_of(job: JobSettings) -> NewJob:
    """What a tick of the entry enqueues."""
    return NewJob(kind=job.kind, queue=job.queue, priority=job.priority, max_attempts=job.max_attempts)
