"""Calendar schedules as systemd's OnCalendar= lines (systemd.time(7), "CALENDAR EVENTS").

Several lines are a union, so that cron's "day of month or day of week" becomes two of them. systemd reads one line as
"and", knows Sunday by name only, skips local times that a clock change leaves out and runs repeated ones once.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.schedule import Calendar, Fire
from cron2queue.generator.engine import CannotConvert

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_UTC = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnCalendar:
    """One line: its text, and the calendar that systemd makes of it."""

    text: str
    calendar: Calendar


def values_of(bits: int, first: int, last: int) -> list[int]:
    """The numbers that a field of a schedule names."""
    return [value for value in range(first, last + 1) if bits >> value & 1]


def _field(values: Sequence[int], first: int, last: int) -> str:
    """`*`, or a list in which three or more in a row are a range."""
    if list(values) == list(range(first, last + 1)):
        return "*"
    step = values[1] - values[0] if len(values) > 2 else 1
    if step > 1 and list(values) == list(range(values[0], last + 1, step)):
        return f"{values[0]:02d}/{step}"
    parts = []
    for _, run in groupby(enumerate(values), key=lambda pair: pair[1] - pair[0]):
        row = [f"{value:02d}" for _, value in run]
        parts.extend([f"{row[0]}..{row[-1]}"] if len(row) > 2 else row)
    return ",".join(parts)


def _weekdays(bits: int) -> list[int]:
    """Monday is 0; cron's 0 and 7 are both Sunday."""
    return [day for day in range(7) if bits >> (day + 1) & 1 or (day == 6 and bits & 1)]


def _line(calendar: Calendar, zone: str) -> OnCalendar:
    weekdays = _weekdays(calendar.weekdays)
    names = "" if len(weekdays) == 7 else ",".join(_DAYS[day] for day in weekdays) + " "
    months, days = _field(values_of(calendar.months, 1, 12), 1, 12), _field(values_of(calendar.days, 1, 31), 1, 31)
    hours, minutes = _field(values_of(calendar.hours, 0, 23), 0, 23), _field(values_of(calendar.minutes, 0, 59), 0, 59)
    text = f"{names}*-{months}-{days} {hours}:{minutes}:00 {zone}"
    return OnCalendar(text=text, calendar=replace(calendar, clock_rule=ClockRule.SYSTEMD, zone=zone, possible=None))


_EVERY_DAY, _EVERY_WEEKDAY = (1 << 32) - 2, (1 << 8) - 1


def zone_name(calendar: Calendar, zone: ZoneInfo, target: str) -> str:
    """The zone of the schedule, else the host's. Raises CannotConvert: it has no name, or none that the target knows."""
    name = (calendar.zone or zone.key or "").removeprefix(":")
    if not name:
        raise CannotConvert(f"{target} needs the name of the time zone", remedy="give --timezone")
    try:
        return ZoneInfo(name).key
    except (ValueError, OSError, LookupError):
        remedy = "name it as Europe/Berlin is named, or leave the entry in cron, with a guard"
        raise CannotConvert(f"{target} does not know the time zone {name!r:.80}", remedy=remedy) from None


def in_zone(calendar: Calendar, zone: str) -> list[OnCalendar]:
    """The lines in the zone of the daemon."""
    plain = replace(calendar, either_day=False)
    if not calendar.either_day:
        return [_line(plain, zone)]
    both = (replace(plain, weekdays=_EVERY_WEEKDAY), replace(plain, days=_EVERY_DAY))
    return [_line(each, zone) for each in both if _weekdays(each.weekdays)]


def in_utc(calendar: Calendar, offset_minutes: int) -> list[OnCalendar]:
    """The same minutes in UTC, for schedules that name every hour of every day and so do not care about clock changes."""
    minutes = sum(1 << (minute - offset_minutes) % 60 for minute in values_of(calendar.minutes, 0, 59))
    return in_zone(replace(calendar, minutes=minutes), _UTC)


def names_every_hour(calendar: Calendar) -> bool:
    """Whether only the minute matters."""
    every_month = values_of(calendar.months, 1, 12) == list(range(1, 13))
    every_day = values_of(calendar.days, 1, 31) == list(range(1, 32)) and len(_weekdays(calendar.weekdays)) == 7
    return every_month and every_day and values_of(calendar.hours, 0, 23) == list(range(24))


def lines_of(calendar: Calendar, zone: ZoneInfo, at: datetime, target: str) -> list[OnCalendar]:
    """In UTC where only the minute matters, else in the zone of the schedule. Raises CannotConvert as `zone_name`."""
    if not names_every_hour(calendar):
        return in_zone(calendar, zone_name(calendar, zone, target))
    offset = at.astimezone(zone).utcoffset()
    return in_utc(calendar, int(offset.total_seconds() // 60) if offset else 0)


def union(several: Iterable[Iterator[Fire]]) -> Iterator[Fire]:
    """All of these starts in their order, once where several meet."""
    last = None
    for fire in heapq.merge(*several, key=lambda each: each.at.timestamp()):
        instant = fire.at.timestamp()
        if instant != last:
            yield fire
        last = instant


def fires_of(lines: Sequence[OnCalendar], start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
    """When a timer with these lines elapses."""
    return union(systemd_fires(line.calendar, start, end, zone) for line in lines)


def systemd_fires(calendar: Calendar, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
    """The starts of one line, whose zone stands in the line."""
    own = ZoneInfo(calendar.zone) if calendar.zone else zone
    return replace(calendar, zone=None).fires_between(start, end, own)
