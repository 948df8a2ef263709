"""When an entry runs: a calendar of bit sets, at boot, or an interval; each knows its fires, clock changes included."""

import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple, cast
from zoneinfo import ZoneInfo

from cron2queue.crontab import days as calendar_days
from cron2queue.crontab.clocks import Change, ClockRule, Due, Start, catch_up, changes, jumps, offset_minutes
from cron2queue.crontab.days import EPOCH_DAY

__all__ = ["AtReboot", "Calendar", "ClockRule", "Fire", "Interval", "Schedule"]

DAY = 1440
_EPOCH = datetime(1970, 1, 1)
# Longest aftermath of a clock change: a whole skipped day on FreeBSD (Apia, December 2011).
_AFTERMATH = DAY + 60
# A 28-year cycle: each date falls on each weekday equally often.
_CYCLE_FIRST, _CYCLE_DAYS = date(2001, 1, 1), 28 * 365 + 7
# The 29th of February on one given weekday can be 40 years away (over 2100).
_SEARCH_YEARS = 41


class Fire(NamedTuple):
    """One start: the real time, and the wall minute (naive) that it stands for.

    Two `at` of one zone compare by their wall time, as Python has it: order them by `timestamp()`.
    """

    at: datetime
    nominal: datetime


# Fire(at, nominal) without the call of a Python function: there may be hundreds of thousands.
_as_fire = cast(Callable[[type[Fire], tuple[datetime, datetime]], Fire], tuple.__new__)


@functools.lru_cache(maxsize=4096)
def _minutes_of_day(minutes: int, hours: int) -> tuple[int, ...]:
    return tuple(hour * 60 + minute for hour in calendar_days.set_bits(hours) for minute in calendar_days.set_bits(minutes))


@functools.lru_cache(maxsize=4096)
def _step(times: tuple[int, ...]) -> int:
    """The distance of evenly spaced times; 0 when they are not."""
    distances = {after - before for before, after in itertools.pairwise(times)}
    return distances.pop() if len(distances) == 1 else 0


def _shifted(times: tuple[int, ...], by: int) -> Iterable[int]:
    step = _step(times)
    return range(times[0] + by, times[-1] + by + 1, step) if step else map(by.__add__, times)


@functools.lru_cache(maxsize=1024)
def _times_of_day(minutes: int, hours: int) -> tuple[timedelta, ...]:
    return tuple(timedelta(minutes=minute) for minute in _minutes_of_day(minutes, hours))


def _naive(local: int) -> datetime:
    return _EPOCH + timedelta(minutes=local)


def _utc_minute(moment: datetime) -> int:
    """The first whole minute at or after the moment."""
    return -(-int(moment.timestamp() * 1_000_000) // 60_000_000)


_POSIX_FIXED = re.compile(r"[A-Za-z]{3,}([+-]?)(\d{1,2})(?::(\d{2}))?\Z")


@functools.lru_cache(maxsize=256)
def zone_named(name: str) -> tzinfo:
    """The zone as the C library takes TZ: a leading colon is dropped, POSIX `UTC+3` means west, unknown is UTC."""
    name = name.removeprefix(":")
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        fixed = _POSIX_FIXED.match(name)
    if not fixed or int(fixed[2]) > 24:
        return UTC
    west = timedelta(hours=int(fixed[2]), minutes=int(fixed[3] or 0))
    return timezone(west if fixed[1] == "-" else -west) if west < timedelta(hours=24) else UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """Bit sets of one crontab line as its daemon understood it.

    Bit n of `minutes`, `hours`, `days` (1-31), `months` (1-12), `weekdays` (0-7, Sunday is 0 and 7) stands for value n.
    `*_star`: the field is a wildcard for this daemon. `either_day`: the day of month or the day of week suffices.
    `zone`: the entry's own zone (CRON_TZ) where the daemon honours one. `random`: the daemon draws some values at each
    load; the sets then hold one draw and `possible` all of them, in the order of the five fields. `days_from_end`: the
    days of the month are counted from its last one (1), as systemd-cron's L has it.
    """

    minutes: int
    hours: int
    days: int
    months: int
    weekdays: int
    day_star: bool = False
    weekday_star: bool = False
    minute_star: bool = False
    hour_star: bool = False
    either_day: bool = False
    clock_rule: ClockRule = ClockRule.DEBIAN
    zone: str | None = None
    random: bool = False
    possible: tuple[int, int, int, int, int] | None = None
    days_from_end: bool = False

    @property
    def wildcard(self) -> bool:
        """Whether the daemon lets it follow the clock at a jump instead of making up for it."""
        return self.minute_star or self.hour_star

    @property
    def minute_bits(self) -> int:
        """The 1440 minutes of a named day: bit h*60+m."""
        return sum(self.minutes << 60 * hour for hour in calendar_days.set_bits(self.hours))

    def day_bits(self, first: date, days: int) -> int:
        """Bit i is set when day `first` + i is named."""
        rule = calendar_days.DayRule(self.days, self.months, self.weekdays, self.either_day, self.days_from_end)
        return calendar_days.day_bits(first, days, rule)

    def matches_day(self, day: date) -> bool:
        """Whether the schedule names this day."""
        return bool(self.day_bits(day, 1))

    def matches(self, wall: datetime) -> bool:
        """Whether the schedule names this wall minute."""
        return bool(self.minutes >> wall.minute & 1 and self.hours >> wall.hour & 1) and self.matches_day(wall.date())

    @property
    def never_fires(self) -> bool:
        """Accepted, and names no minute of any year: known from the sets alone."""
        rule = calendar_days.DayRule(self.days, self.months, self.weekdays, self.either_day, self.days_from_end)
        named = calendar_days.names_a_day(rule)
        return not (self.minutes and self.hours and named)

    @property
    def runs_per_day(self) -> float:
        """Mean starts a day over the 28 years in which dates and weekdays meet equally often."""
        named = self.day_bits(_CYCLE_FIRST, _CYCLE_DAYS).bit_count()
        return self.minute_bits.bit_count() * named / _CYCLE_DAYS

    @property
    def shortest_gap(self) -> timedelta | None:
        """The shortest time between two starts on an ordinary day or over midnight; None for at most one start."""
        minutes = _minutes_of_day(self.minutes, self.hours)
        if not minutes or self.never_fires:
            return None
        gaps = [after - before for before, after in itertools.pairwise(minutes)]
        named = self.day_bits(_CYCLE_FIRST, _CYCLE_DAYS)
        apart = _shortest_distance(named)
        if apart is not None:
            gaps.append(apart * DAY + minutes[0] - minutes[-1])
        return timedelta(minutes=min(gaps)) if gaps else None

    def minutes_between(self, start: datetime, end: datetime) -> list[int]:
        """The wall minutes named from `start` to before `end` (naive), as minutes since 1970-01-01T00:00; no clock changes."""
        first, last = -(-(start - _EPOCH) // timedelta(minutes=1)), -(-(end - _EPOCH) // timedelta(minutes=1))
        found: list[int] = []
        for day, times in self._days_between(first, last):
            found.extend(_shifted(times, day * DAY))
        return found

    def _days_between(self, first: int, last: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Named days and their minutes of the day between two local minutes."""
        if first >= last:
            return
        times = _minutes_of_day(self.minutes, self.hours)
        first_day, last_day = first // DAY, (last - 1) // DAY
        named = self.day_bits(date.fromordinal(EPOCH_DAY + first_day), last_day - first_day + 1) if times else 0
        for place in calendar_days.set_bits(named):
            day = first_day + place
            if first_day < day < last_day:
                yield day, times
            else:
                yield day, tuple(time for time in times if first <= day * DAY + time < last)

    def fires_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
        """All starts from `start` (inclusive) to `end` (exclusive), in order, by the daemon's own rule at clock changes.

        `start` and `end` are aware; `zone` is the daemon's. The daemon is taken to run since before `start`.
        """
        first, last = _utc_minute(start), _utc_minute(end)
        if self.zone:
            return (Fire(fire.at.astimezone(zone), fire.nominal) for fire in self._own_zone_fires(first, last, zone))
        return itertools.chain.from_iterable(self._batches(first, last, zone))

    def real_minutes(self, start: datetime, end: datetime, zone: tzinfo) -> list[int]:
        """The starts of `fires_between` as minutes since 1970-01-01 UTC, for counting: no datetime is made."""
        first, last = _utc_minute(start), _utc_minute(end)
        if self.zone:
            return [int(fire.at.timestamp()) // 60 for fire in self._own_zone_fires(first, last, zone)]
        found: list[int] = []
        for piece in self._pieces(first, last, zone):
            if isinstance(piece, Start):
                found.append(piece.utc)
                continue
            for day, times in self._days_between(piece.first + piece.offset, piece.last + piece.offset):
                found.extend(_shifted(times, day * DAY - piece.offset))
        return found

    def _due(self) -> Due:
        @functools.lru_cache(maxsize=8)
        def named(day: int) -> bool:
            return self.matches_day(date.fromordinal(EPOCH_DAY + day))

        minutes = self.minute_bits

        def matches(local: int) -> bool:
            return bool(minutes >> local % DAY & 1) and named(local // DAY)

        return Due(matches, self.wildcard, catches_up=self.zone is None)

    def _batches(self, first: int, last: int, zone: tzinfo) -> Iterator[Iterable[Fire]]:
        for piece in self._pieces(first, last, zone):
            if isinstance(piece, Start):
                yield (_fire(piece, zone),)
            else:
                yield from self._plain(piece)

    def _pieces(self, first: int, last: int, zone: tzinfo) -> "Iterator[_Span | Start]":
        """What happens from `first` to before `last`: spans in which the clock just runs on, and single starts."""
        if self.never_fires or first >= last:
            return
        position = first - _AFTERMATH
        real = offset = offset_minutes(position, zone)
        repeated_until = position
        for change in changes(zone, position, last):
            yield _Span(max(position, first), change.utc, offset, real, repeated_until, zone)
            position, real = max(position, change.utc), change.after
            repeated_until = change.utc + max(0, change.before - change.after)
            if not jumps(self.clock_rule, change):
                # An unnoticed change before the time asked for does not count: the daemon may be younger than it.
                offset = change.after if change.utc <= first else offset
                continue
            starts, position = self._aftermath(change._replace(before=offset), position, last)
            offset = change.after
            yield from (start for start in starts if start.utc >= first)
        yield _Span(max(position, first), last, offset, real, repeated_until, zone)

    def _aftermath(self, change: Change, position: int, last: int) -> tuple[list[Start], int]:
        if self.clock_rule is ClockRule.WALL:
            return [], position
        if self.clock_rule is ClockRule.SYSTEMD:
            return [], position + max(0, change.before - change.after)
        return catch_up(self._due(), change, last, rule=self.clock_rule)

    def _plain(self, span: "_Span") -> Iterator[Iterable[Fire]]:
        """Minutes in which the daemon's clock just runs on, by days. Wall arithmetic where it is exact, else by instant."""
        by_instant = min(span.last, span.repeated_until) if span.offset == span.real else span.last
        for day, times in self._days_between(span.first + span.offset, by_instant + span.offset):
            yield [_fire(Start(day * DAY + time - span.offset, day * DAY + time), span.zone) for time in times]
        times_of_day = _times_of_day(self.minutes, self.hours)
        whole = _minutes_of_day(self.minutes, self.hours)
        for day, times in self._days_between(max(span.first, by_instant) + span.offset, span.last + span.offset):
            midnight = _EPOCH + timedelta(days=day)
            aware = midnight.replace(tzinfo=span.zone)
            deltas = times_of_day if times is whole else tuple(timedelta(minutes=time) for time in times)
            real = map(operator.add, itertools.repeat(aware), deltas)
            nominal = map(operator.add, itertools.repeat(midnight), deltas)
            yield map(_as_fire, itertools.repeat(Fire), zip(real, nominal))  # noqa: B905  both are as long as deltas

    def _own_zone_fires(self, first: int, last: int, zone: tzinfo) -> Iterator[Fire]:
        """Cronie's CRON_TZ: each real minute as it reads there; fixed times inside the host's repeated hour are lost."""
        own = zone_named(self.zone or "")
        lost = [
            range(change.utc, change.utc + change.before - change.after)
            for change in changes(zone, first - _AFTERMATH, last)
            if change.dst_changes and not self.wildcard
        ]
        wall = replace(self, zone=None, clock_rule=ClockRule.WALL)
        for fire in itertools.chain.from_iterable(wall._batches(first, last, own)):
            if not any(int(fire.at.timestamp()) // 60 in minutes for minutes in lost):
                yield fire

    def next_fires(self, start: datetime, zone: tzinfo, count: int) -> list[Fire]:
        """The first `count` starts from `start` on; fewer when the schedule ends before the end of the calendar."""
        found: list[Fire] = []
        if self.never_fires:
            return found
        step, begin = timedelta(days=32), start
        limit = start.year + _SEARCH_YEARS + count
        while len(found) < count and begin.year < min(limit, 9900):
            end = begin + step
            found.extend(itertools.islice(self.fires_between(begin, end, zone), count - len(found)))
            begin, step = end, min(step * 2, timedelta(days=366))
        return found


class _Span(NamedTuple):
    """Real minutes between two changes, the daemon's offset in them, the zone's, and until when wall times repeat."""

    first: int
    last: int
    offset: int
    real: int
    repeated_until: int
    zone: tzinfo


def _fire(start: Start, zone: tzinfo) -> Fire:
    return Fire(datetime.fromtimestamp(start.utc * 60, zone), _naive(start.nominal))


def _shortest_distance(bits: int) -> int | None:
    """The smallest distance between two set bits."""
    if bits & (bits - 1) == 0:
        return None
    return next(distance for distance in itertools.count(1) if bits & bits >> distance)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtReboot:
    """Once, when the machine or the daemon starts; no calendar tells when that is."""

    never_fires: bool = False
    random: bool = False
    runs_per_day: float = 0.0

    def fires_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
        """Nothing: boots are not foreseen."""
        return iter(())

    def next_fires(self, start: datetime, zone: tzinfo, count: int) -> list[Fire]:
        """Nothing: boots are not foreseen."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """FreeBSD's @N: `seconds` after the last run ended."""

    seconds: int
    never_fires: bool = False
    random: bool = False

    @property
    def runs_per_day(self) -> float:
        """Starts a day if a run takes no time."""
        return 86400 / self.seconds

    def fires_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
        """The starts of a daemon that starts at `start`, if a run takes no time."""
        at = start.astimezone(UTC) + timedelta(seconds=self.seconds)
        while at < end:
            local = at.astimezone(zone)
            yield Fire(local, local.replace(tzinfo=None))
            at += timedelta(seconds=self.seconds)

    def next_fires(self, start: datetime, zone: tzinfo, count: int) -> list[Fire]:
        """The first `count` such starts."""
        return list(itertools.islice(self.fires_between(start, datetime.max.replace(tzinfo=UTC), zone), count))


Schedule = Calendar | AtReboot | Interval
