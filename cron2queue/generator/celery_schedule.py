"""Calendar schedules as Celery's crontab(), and when its beat finds them due.

Celery joins the day fields by "and", so that cron's "day of month or day of week" becomes two entries. At a clock change it
runs a time that the gap leaves out as much later as the gap is long, and of a repeated hour it runs the first only (both
compared with Celery itself in the tests). Schedules that name every hour are therefore kept in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cron2queue.crontab.schedule import Calendar, Fire
from cron2queue.generator.engine import CannotConvert
from cron2queue.generator.oncalendar import lines_of, union, values_of

if TYPE_CHECKING:
    from cron2queue.crontab.schedule import Schedule


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatLine:
    """One crontab() of beat: its fields as Celery reads them, its zone, and the calendar that they mean."""

    fields: tuple[tuple[str, str], ...]
    zone: str
    calendar: Calendar


def _field(bits: int, first: int, last: int) -> str:
    """`*`, or the values one by one: nothing is left to Celery's own reading of ranges and steps."""
    values = values_of(bits, first, last)
    return "*" if len(values) == last - first + 1 else ",".join(map(str, values))


def _line(calendar: Calendar) -> BeatLine:
    weekdays = calendar.weekdays | (calendar.weekdays >> 7 & 1)  # 7 is Sunday for cron, an error for Celery
    fields = (
        ("minute", _field(calendar.minutes, 0, 59)),
        ("hour", _field(calendar.hours, 0, 23)),
        ("day_of_month", _field(calendar.days, 1, 31)),
        ("month_of_year", _field(calendar.months, 1, 12)),
        ("day_of_week", _field(weekdays, 0, 6)),
    )
    return BeatLine(fields=fields, zone=calendar.zone or "UTC", calendar=calendar)


def beat_lines(schedule: Schedule, zone: ZoneInfo, at: datetime) -> list[BeatLine]:
    """The entries of beat for one schedule. Raises CannotConvert for what crontab() cannot say."""
    if not isinstance(schedule, Calendar):
        raise CannotConvert("beat cannot keep this cron's intervals, which count from the end of the last run")
    if schedule.random:
        raise CannotConvert("beat cannot draw the time of a schedule")
    if schedule.days_from_end:
        raise CannotConvert("beat cannot count days from the end of the month")
    lines = lines_of(schedule, zone, at, "beat")
    possible = [_line(each.calendar) for each in lines if not each.calendar.never_fires]
    if not possible:
        raise CannotConvert("beat refuses a schedule that never fires")
    return possible


def fires_of(lines: Sequence[BeatLine], start: datetime, end: datetime) -> Iterator[Fire]:
    """When beat enqueues: where lines meet, once, since the key of a tick is its minute."""
    return union(_fires(line, start, end) for line in lines)


def _fires(line: BeatLine, start: datetime, end: datetime) -> Iterator[Fire]:
    """Celery looks for the next wall time after that of the last run, and waits for its instant."""
    zone, last = ZoneInfo(line.zone), None
    for wall in _walls(line.calendar, (start - timedelta(days=2)).replace(tzinfo=None), end):
        instant = wall.replace(tzinfo=zone).astimezone(UTC)
        if instant >= end:
            return
        if last is not None and instant <= last:
            continue
        last = instant
        if instant >= start:
            yield Fire(at=instant.astimezone(zone), nominal=wall)


def _walls(calendar: Calendar, first: datetime, end: datetime) -> Iterator[datetime]:
    """The wall times that the fields name, in their order."""
    hours, minutes = values_of(calendar.hours, 0, 23), values_of(calendar.minutes, 0, 59)
    day = first.replace(hour=0, minute=0, second=0, microsecond=0)
    while day.replace(tzinfo=UTC) < end + timedelta(days=2):
        weekday = day.isoweekday()
        named = calendar.weekdays >> weekday & 1 or (weekday == 7 and calendar.weekdays & 1)
        if named and calendar.days >> day.day & 1 and calendar.months >> day.month & 1:
            for hour in hours:
                for minute in minutes:
                    yield day.replace(hour=hour, minute=minute)
        day += timedelta(days=1)
