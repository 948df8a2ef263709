"""The zone that a TZ text means to the C library: a name of the zone database, or POSIX rules like EST5EDT,M3.2.0,M11.1.0."""

import functools
import re
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cron2queue.expressions import regex

_NAME = r"(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)"
_CLOCK = r"[+-]?\d{1,3}(?::\d{1,2}){0,2}"
_OFFSET = r"[+-]?\d{1,2}(?::\d{1,2}){0,2}"
_RULE = rf"(?:M(?:1[0-2]|0?[1-9])\.[1-5]\.[0-6]|J?\d{{1,3}})(?:/{_CLOCK})?"
_POSIX = regex(rf"{_NAME}({_OFFSET})(?:({_NAME})({_OFFSET})?(?:,({_RULE}))?(?:,({_RULE}))?,?)?\Z", re.ASCII)
# What the C library takes where summer time has a name but no rules: the clock changes of the United States.
_DEFAULT_BEGIN, _DEFAULT_END = "M3.2.0", "M11.1.0"
_DATABASE = "/usr/share/zoneinfo/"
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


@functools.lru_cache(maxsize=256)
def zone_named(name: str) -> tzinfo:
    """The zone as the C library takes TZ: a leading colon is dropped, POSIX `UTC+3` means west, unknown is UTC."""
    name = name.removeprefix(":")
    try:
        return ZoneInfo(name.removeprefix(_DATABASE))
    except (ValueError, OSError, LookupError):
        return _posix_zone(name) or UTC


def _posix_zone(text: str) -> tzinfo | None:
    parts = _POSIX.match(text)
    if not parts:
        return None
    standard = -_clock(parts[1], hours=24)
    summer = -_clock(parts[3], hours=24) if parts[3] else standard + _HOUR
    if not (abs(standard) < _DAY and abs(summer) < _DAY):
        return None
    if not parts[2]:
        return timezone(standard)
    begin, end = _rule(parts[4] or _DEFAULT_BEGIN), _rule(parts[5] or _DEFAULT_END)
    return _PosixZone(standard, summer, begin, end) if begin and end else timezone(standard)


def _clock(text: str, *, hours: int) -> timedelta:
    """[+-]h[:m[:s]]; what is larger than a clock shows counts as the largest."""
    highest = (hours, 59, 59)
    parts = [min(int(part), most) for part, most in zip(text.lstrip("+-").split(":"), highest, strict=False)]
    found = timedelta(**dict(zip(("hours", "minutes", "seconds"), parts, strict=False)))
    return -found if text.startswith("-") else found


class _Rule(NamedTuple):
    """When the clock changes in any year: `kind` is M (`month`, `week`, `day` of the week), J or n (`day` of the year)."""

    kind: str
    day: int
    time: timedelta
    month: int = 0
    week: int = 0

    def in_year(self, year: int) -> datetime:
        """The wall time before the change (naive)."""
        first = datetime(year, self.month or 1, 1)
        if self.kind == "n":
            return first + timedelta(days=self.day) + self.time
        if self.kind == "J":  # the 29th of February is not counted
            leap = self.day >= 60 and date(year, 3, 1).timetuple().tm_yday == 61
            return first + timedelta(days=self.day - 1 + leap) + self.time
        day = first + timedelta(days=(self.day - first.isoweekday()) % 7 + 7 * (self.week - 1))
        return (day if day.month == self.month else day - timedelta(days=7)) + self.time


def _rule(text: str) -> _Rule | None:
    """None for a day that no year has."""
    day, _, clock = text.partition("/")
    time = _clock(clock, hours=167) if clock else 2 * _HOUR
    if day.startswith("M"):
        month, week, weekday = map(int, day[1:].split("."))
        return _Rule("M", weekday, time, month, week)
    kind, number = ("J", int(day[1:])) if day.startswith("J") else ("n", int(day))
    return _Rule(kind, number, time) if (kind == "J") <= number <= 365 else None


class _PosixZone(tzinfo):
    """Two offsets, and the rules by which one follows the other each year; the year is that of UTC, as glibc has it."""

    def __init__(self, standard: timedelta, summer: timedelta, begin: _Rule, end: _Rule) -> None:
        self.standard, self.summer, self.begin, self.end = standard, summer, begin, end

    def _is_summer(self, utc: datetime) -> bool:
        if not MINYEAR < utc.year < MAXYEAR:  # a change may lie outside of what can be told
            return False
        begin = self.begin.in_year(utc.year) - self.standard
        end = self.end.in_year(utc.year) - self.summer
        return begin <= utc < end if begin <= end else not end <= utc < begin

    def _summer_at(self, wall: datetime) -> bool:
        """The first of a repeated wall time, and a skipped one by the clock before the change, unless `fold` says else."""
        choose = min if wall.fold else max
        return self._is_summer(wall.replace(tzinfo=None, fold=0) - choose(self.standard, self.summer))

    def utcoffset(self, wall: datetime | None) -> timedelta:
        """Local time minus UTC."""
        return self.summer if wall is not None and self._summer_at(wall) else self.standard

    def dst(self, wall: datetime | None) -> timedelta:
        """How far summer time is ahead of standard time; 0 in winter."""
        return self.utcoffset(wall) - self.standard

    def tzname(self, wall: datetime | None) -> str:
        """As an offset."""
        return str(timezone(self.utcoffset(wall)))

    def fromutc(self, utc: datetime) -> datetime:
        """The wall time at this moment."""
        offset = self.summer if self._is_summer(utc.replace(tzinfo=None)) else self.standard
        wall = utc + offset
        return wall if self.utcoffset(wall) == offset else wall.replace(fold=1)
