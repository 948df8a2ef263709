"""Processes alive over a day: exact starts, known durations, and nothing invented for the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache, reduce
from operator import or_
from typing import TYPE_CHECKING

from cron2queue.analyser.bitcount import counters, minutes_of, peak, smeared
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.guards import holds_lock
from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.timing import known_duration, runs_per_day, shortest_gap
from cron2queue.analyser.verdicts import Decision, Verdict
from cron2queue.crontab.clocks import offset_minutes
from cron2queue.crontab.schedule import Calendar, Interval
from cron2queue.crontab.zones import zone_named
from cron2queue.record import Record

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from cron2queue.analyser.finding import EntryId
    from cron2queue.analyser.rule import Subject
    from cron2queue.crontab.lines import CrontabFile, Entry

DAY = 1440
WHOLE_DAY = (1 << DAY) - 1
COLUMN = 15
DAYS_AHEAD = 28
MOST_LANES = 500


class Lane(Record):
    """One entry on the load's day: its starts, and how long a run takes where that is known (seconds)."""

    entry_id: EntryId
    name: str
    line: int
    starts: tuple[datetime, ...]
    seconds: float | None


class Load(Record):
    """Processes alive on the busiest of the days ahead; a run of unknown length counts for its first minute only.

    `alive` holds the peak of each column of `minutes` minutes. `planned_peak` is the peak when overlap is skipped and
    queued jobs are worked one at a time. `unknown` counts entries without a known duration. Where the files are of several
    hosts it is the load of the busiest, `host`.
    """

    day: date
    minutes: int
    alive: tuple[int, ...]
    peak_at: datetime
    peak: int
    planned_peak: int
    lanes: tuple[Lane, ...]
    unknown: int = 0
    host: str | None = None


class Burden(Record):
    """What one entry puts on the machine: its minutes of the day, its named days ahead, and how long a run lives.

    `minutes` None: the length is not known, and a run counts for the minute in which it starts. `copies`: the daemon lets
    several runs of the entry live at once. `part`: it holds only some of the entry's starts, or not by the entry's own hours,
    since those are of another zone.
    """

    file: CrontabFile
    entry: Entry
    starts: int
    days: int
    minutes: int | None
    seconds: float | None
    copies: bool
    part: bool = False


@lru_cache(maxsize=16384)
def _day_bits(schedule: Calendar, first: date) -> int:
    return schedule.day_bits(first, DAYS_AHEAD)


def starts_of(schedule: Calendar | Interval) -> int:
    """Minutes of the day in which it starts; an interval is drawn from midnight on."""
    if isinstance(schedule, Calendar):
        return _minute_bits(schedule)
    step = max(1, round(schedule.seconds / 60))
    return sum(1 << minute for minute in range(0, DAY, step))


@lru_cache(maxsize=16384)
def _minute_bits(schedule: Calendar) -> int:
    return schedule.minute_bits


def _ahead(schedule: Calendar, first: date, zone: ZoneInfo) -> int:
    """Minutes by which the host's clock is ahead of the entry's own on the first day ahead."""
    if not schedule.zone:
        return 0
    noon = int(datetime.combine(first, time(12), zone).timestamp()) // 60
    return offset_minutes(noon, zone) - offset_minutes(noon, zone_named(schedule.zone))


def _turned(schedule: Calendar, first: date, ahead: int) -> Iterator[tuple[int, int]]:
    """Minutes of the day and days by the host's clock: those that stay on their day, and those that come on the next."""
    later, minutes = divmod(ahead, DAY)
    turned = _minute_bits(schedule) << minutes
    for days, starts in enumerate((turned & WHOLE_DAY, turned >> DAY), start=later):
        if starts:
            yield starts, _day_bits(schedule, first - timedelta(days=days))


def _by_host_clock(schedule: Calendar | Interval, first: date, zone: ZoneInfo) -> list[tuple[int, int, bool]]:
    """Starts, days, and whether they are but a part: one for most entries, two where a day is parted by another zone's."""
    if isinstance(schedule, Interval):
        return [(starts_of(schedule), (1 << DAYS_AHEAD) - 1, False)]
    ahead = _ahead(schedule, first, zone)
    parts = list(_turned(schedule, first, ahead))
    if len(parts) == 2 and parts[0][1] == parts[1][1]:
        parts = [(parts[0][0] | parts[1][0], parts[0][1])]
    return [(starts, days, len(parts) == 2 or ahead % 60 != 0) for starts, days in parts if days]


def burdens(subject: Subject, file: CrontabFile, entry: Entry, first: date) -> Iterator[Burden]:
    """Nothing for @reboot, for what never fires, and for scripts that run-parts or anacron start one after another."""
    schedule = entry.schedule
    if not isinstance(schedule, Calendar | Interval) or not file.loaded or not file.editable:
        return
    known = known_duration(subject, file, entry)
    length = None if known is None else max(1, -(-int(known.long) // 60))
    gap = shortest_gap(entry)
    overlaps = known is not None and gap is not None and known.long > gap
    copies = overlaps and daemon(file.dialect).second_copy and not holds_lock(entry.command)
    for starts, days, part in _by_host_clock(schedule, first, subject.zone):
        yield Burden(
            file=file,
            entry=entry,
            starts=starts,
            days=days,
            minutes=length,
            seconds=None if known is None else known.long,
            copies=copies,
            part=part,
        )


def first_day_ahead(subject: Subject) -> date:
    """Tomorrow, by the daemon's clock."""
    return subject.at.astimezone(subject.zone).date() + timedelta(days=1)


def burdens_of(subject: Subject, entries: Iterable[tuple[CrontabFile, Entry]]) -> list[Burden]:
    """What each of the entries puts on its machine, those that never start left out."""
    first = first_day_ahead(subject)
    return [each for file, entry in entries for each in burdens(subject, file, entry, first)]


def _busiest_host(subject: Subject) -> list[tuple[CrontabFile, Entry]]:
    """The entries of the host with the most starts a day."""
    starts: dict[str, float] = defaultdict(float)
    for file, entry in subject.entries:
        starts[host_of(file)] += runs_per_day(entry) if file.loaded else 0
    if len(starts) < 2:
        return list(subject.entries)
    busiest = max(starts, key=lambda host: starts[host])
    return [(file, entry) for file, entry in subject.entries if host_of(file) == busiest]


def _of_day(burdens: Sequence[Burden], day: int) -> list[int]:
    """Counter planes of one day."""
    return counters(_alive(burdens, day))


def _alive(burdens: Sequence[Burden], day: int, *, planned: bool = False) -> list[int]:
    """Minutes of one day in which each is alive, a bit set for each copy; runs of the day before reach into it."""
    sets: list[int] = []
    for each in burdens:
        today, before = each.days >> day & 1, each.days >> (day - 1) & 1 if day else 1
        if not (today or before):
            continue
        mask = (WHOLE_DAY << DAY if today else 0) | (WHOLE_DAY if before else 0)
        sets.extend(bits >> DAY & WHOLE_DAY for bits in _masked(each, mask, planned=planned))
    return sets


def _masked(each: Burden, mask: int, *, planned: bool) -> list[int]:
    both = (each.starts | each.starts << DAY) & mask
    length = min(each.minutes or 1, DAY)
    if planned or not each.copies:
        return [smeared(both, length)]
    return [both << shift for shift in range(length)]


def _columns(planes: Sequence[int]) -> tuple[int, ...]:
    column = (1 << COLUMN) - 1
    return tuple(peak(list(planes), column << start)[0] for start in range(0, DAY, COLUMN))


def load_of(subject: Subject, verdicts: Mapping[EntryId, Verdict]) -> Load | None:
    """The busiest of the next 28 days, of the busiest host; None when nothing starts in them."""
    first = first_day_ahead(subject)
    ours = burdens_of(subject, _busiest_host(subject))
    if not ours:
        return None
    single = list({id(each.entry): each for each in ours}.values())
    days = _days_worth_a_look(ours)
    planes = [_of_day(ours, day) for day in days]
    busiest = max(range(len(days)), key=lambda at: (peak(planes[at], WHOLE_DAY)[0], -days[at]))
    top, where = peak(planes[busiest], WHOLE_DAY)
    day = first + timedelta(days=days[busiest])
    return Load(
        day=day,
        minutes=COLUMN,
        alive=_columns(planes[busiest]),
        peak_at=_moment(day, next(minutes_of(where)), subject.zone),
        peak=top,
        planned_peak=_planned(subject, ours, days[busiest], verdicts),
        lanes=tuple(_lane(subject, each, day, verdicts) for each in single[:MOST_LANES]),
        unknown=sum(each.minutes is None for each in single),
        host=host_of(ours[0].file) or None,
    )


def _days_worth_a_look(burdens: Sequence[Burden]) -> list[int]:
    """Days that differ in which entries run: equal days are looked at once."""
    seen: dict[tuple[bool, ...], int] = {}
    patterns = sorted({each.days for each in burdens})
    for day in range(DAYS_AHEAD):
        today = tuple(bool(bits >> day & 1) for bits in patterns)
        before = tuple(bool(bits >> (day - 1) & 1) if day else True for bits in patterns)
        seen.setdefault(today + before, day)
    return sorted(seen.values())


def _moment(day: date, minute: int, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=zone)


def _lane(subject: Subject, each: Burden, day: date, verdicts: Mapping[EntryId, Verdict]) -> Lane:
    start, end = _moment(day, 0, subject.zone), _moment(day + timedelta(days=1), 0, subject.zone)
    entry_id = subject.id_of(each.file, each.entry)
    starts = each.entry.schedule.times_between(start, end, subject.zone)
    verdict = verdicts.get(entry_id)
    return Lane(
        entry_id=entry_id,
        name=verdict.name if verdict else entry_id,
        line=each.entry.number,
        starts=tuple(starts),
        seconds=each.seconds,
    )


def _planned(subject: Subject, burdens: Sequence[Burden], day: int, verdicts: Mapping[EntryId, Verdict]) -> int:
    """The peak when jobs for the queue are worked one at a time, the rest skips while it runs, and the dropped are gone.

    The one worker is counted where a job that it takes is alive today, so that the plan never looks worse than today.
    """
    stays, queued = [], []
    for each in burdens:
        verdict = verdicts.get(subject.id_of(each.file, each.entry))
        decision = verdict.decision if verdict else Decision.KEEP
        if decision in (Decision.QUEUE, Decision.SPLIT):
            queued.append(each)
        elif decision is not Decision.DROP:
            stays.append(each)
    worker = reduce(or_, _alive(queued, day, planned=True), 0)
    return peak(counters([*_alive(stays, day, planned=True), worker]), WHOLE_DAY)[0]
