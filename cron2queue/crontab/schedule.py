"""When an entry runs: a calendar of bit sets, at boot, or an interval; each knows its fires, clock changes included."""

from __future__ import annotations

import functools
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple, cast

from cron2queue.crontab import days as calendar_days
from cron2queue.crontab.clocks import Change, ClockRule, Due, Start, catch_up, changes, jumps, offset_minutes
from cron2queue.crontab.days import EPOCH_DAY
from cron2queue.crontab.minutes import DAY, MIDNIGHT, DayTimes, moved_together, times_of_day
from cron2queue.crontab.zones import zone_named
from cron2queue.record import Record, computed

__all__ = ["AtReboot", "Calendar", "ClockRule", "Fire", "Interval", "Schedule"]

_EPOCH = datetime(1970, 1, 1)
# Longest aftermath of a clock change: a whole skipped day on FreeBSD (Apia, December 2011).
_AFTERMATH = DAY + 60
# The 29th of February on one given weekday can be 40 years away (over 2100).
_SEARCH_YEARS = 41


class Fire(NamedTuple):
    """One start: the real time, and the wall minute (naive) that it stands for.

    Two `at` of one zone compare by their wall time, as Python has it: order them by `timestamp()`.
    """

    at: datetime
    nominal: datetime


# The real times of some starts, and the wall minutes that they stand for.
_Run = tuple[Iterable[datetime], Iterable[datetime]]
# Fire(at, nominal) without the call of a Python function: there may be hundreds of thousands.
_as_fire = cast(Callable[[type[Fire], tuple[datetime, datetime]], Fire], tuple.__new__)


def _naive(local: int) -> datetime:
    return _EPOCH + timedelta(minutes=local)


def _utc_minute(moment: datetime) -> int:
    """The first whole minute at or after the moment."""
    return -(-int(moment.timestamp() * 1_000_000) // 60_000_000)


class Calendar(Record):
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
    _hash: int = computed()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.minutes, self.hours, self.days, self.months, self.weekdays)))

    def __hash__(self) -> int:
        """Of its sets alone, and worked out once: much that is known of a schedule is kept by it, and asked at every entry."""
        return self._hash

    @property
    def wildcard(self) -> bool:
        """Whether the daemon lets it follow the clock at a jump instead of making up for it."""
        return self.minute_star or self.hour_star

    @property
    def minute_bits(self) -> int:
        """The 1440 minutes of a named day: bit h*60+m."""
        return sum(self.minutes << 60 * hour for hour in calendar_days.set_bits(self.hours))

    @property
    def _day_rule(self) -> calendar_days.DayRule:
        return calendar_days.DayRule(self.days, self.months, self.weekdays, self.either_day, self.days_from_end)

    def day_bits(self, first: date, days: int) -> int:
        """Bit i is set when day `first` + i is named."""
        return calendar_days.day_bits(first, days, self._day_rule)

    def matches_day(self, day: date) -> bool:
        """Whether the schedule names this day."""
        return bool(self.day_bits(day, 1))

    def matches(self, wall: datetime) -> bool:
        """Whether the schedule names this wall minute."""
        return bool(self.minutes >> wall.minute & 1 and self.hours >> wall.hour & 1) and self.matches_day(wall.date())

    @property
    def never_fires(self) -> bool:
        """Accepted, and names no minute of any year: known from the sets alone."""
        return not (self.minutes and self.hours and calendar_days.names_a_day(self._day_rule))

    @property
    def runs_per_day(self) -> float:
        """Mean starts a day over the 28 years in which dates and weekdays meet equally often."""
        return self.minutes.bit_count() * self.hours.bit_count() * calendar_days.density(self._day_rule)[0]

    @property
    def shortest_gap(self) -> timedelta | None:
        """The shortest time between two starts on an ordinary day or over midnight; None for at most one start."""
        minutes = times_of_day(self.minutes, self.hours).minutes
        if not minutes or self.never_fires:
            return None
        gaps = [after - before for before, after in itertools.pairwise(minutes)]
        apart = calendar_days.density(self._day_rule)[1]
        if apart is not None:
            gaps.append(apart * DAY + minutes[0] - minutes[-1])
        return timedelta(minutes=min(gaps)) if gaps else None

    def minutes_between(self, start: datetime, end: datetime) -> array[int]:
        """The wall minutes named from `start` to before `end` (naive), as minutes since 1970-01-01T00:00; no clock changes."""
        first, last = -(-(start - _EPOCH) // timedelta(minutes=1)), -(-(end - _EPOCH) // timedelta(minutes=1))
        return moved_together(self._days_between(first, last), first, last)

    def _days_between(self, first: int, last: int) -> Iterator[tuple[int, DayTimes]]:
        """The minute in which each named day between two local minutes begins, and its times."""
        if first >= last:
            return
        times = times_of_day(self.minutes, self.hours)
        first_day, last_day = first // DAY, (last - 1) // DAY
        named = self.day_bits(date.fromordinal(EPOCH_DAY + first_day), last_day - first_day + 1) if times.minutes else 0
        for place in calendar_days.set_bits(named):
            begin = (first_day + place) * DAY
            yield begin, times.within(first - begin, last - begin)

    def fires_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
        """All starts from `start` (inclusive) to `end` (exclusive), in order, by the daemon's own rule at clock changes.

        `start` and `end` are aware; `zone` is the daemon's. The daemon is taken to run since before `start`.
        """
        runs = self._runs(_utc_minute(start), _utc_minute(end), zone)
        return itertools.chain.from_iterable(map(_as_fire, itertools.repeat(Fire), zip(*run)) for run in runs)  # noqa: B905

    def times_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[datetime]:
        """The `at` of each of `fires_between`, several times as fast: the minute it stands for is not worked out."""
        return itertools.chain.from_iterable(at for at, _ in self._runs(_utc_minute(start), _utc_minute(end), zone))

    def real_minutes(self, start: datetime, end: datetime, zone: tzinfo) -> array[int]:
        """The starts of `fires_between` as minutes since 1970-01-01 UTC, for counting: no datetime is made."""
        first, last = _utc_minute(start), _utc_minute(end)
        return moved_together(self._real_days(first, last, zone), first, last)

    def _real_days(self, first: int, last: int, zone: tzinfo) -> Iterator[tuple[int, DayTimes]]:
        if self.zone:
            yield from ((int(at.timestamp()) // 60, MIDNIGHT) for at, _ in self._in_own_zone(first, last, zone))
            return
        for piece in self._pieces(first, last, zone):
            if isinstance(piece, Start):
                yield piece.utc, MIDNIGHT
            else:
                local = self._days_between(piece.first + piece.offset, piece.last + piece.offset)
                yield from ((begin - piece.offset, times) for begin, times in local)

    def _due(self) -> Due:
        @functools.lru_cache(maxsize=8)
        def named(day: int) -> bool:
            return self.matches_day(date.fromordinal(EPOCH_DAY + day))

        minutes = self.minute_bits

        def matches(local: int) -> bool:
            return bool(minutes >> local % DAY & 1) and named(local // DAY)

        return Due(matches, self.wildcard, catches_up=self.zone is None)

    def _runs(self, first: int, last: int, zone: tzinfo) -> Iterator[_Run]:
        if self.zone:
            for at, nominal in self._in_own_zone(first, last, zone):
                yield (at.astimezone(zone),), (nominal,)
            return
        for piece in self._pieces(first, last, zone):
            if isinstance(piece, Start):
                yield _run([piece], zone)
            else:
                yield from self._plain(piece)

    def _pieces(self, first: int, last: int, zone: tzinfo) -> Iterator[_Span | Start]:
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

    def _plain(self, span: _Span) -> Iterator[_Run]:
        """Minutes in which the daemon's clock just runs on, by days. Wall arithmetic where it is exact, else by instant."""
        by_instant = min(span.last, span.repeated_until) if span.offset == span.real else span.last
        for begin, times in self._days_between(span.first + span.offset, by_instant + span.offset):
            locals_ = map(begin.__add__, times.minutes)
            yield _run([Start(local - span.offset, local) for local in locals_], span.zone)
        for begin, times in self._days_between(max(span.first, by_instant) + span.offset, span.last + span.offset):
            midnight = _naive(begin)
            yield times.after(midnight.replace(tzinfo=span.zone)), times.after(midnight)

    def _in_own_zone(self, first: int, last: int, zone: tzinfo) -> Iterator[tuple[datetime, datetime]]:
        """Cronie's CRON_TZ: each real minute as it reads there; fixed times inside the host's repeated hour are lost."""
        own = zone_named(self.zone or "")
        lost = [
            range(change.utc, change.utc + change.before - change.after)
            for change in changes(zone, first - _AFTERMATH, last)
            if change.dst_changes and not self.wildcard
        ]
        wall = self.but(zone=None, clock_rule=ClockRule.WALL)
        for at, nominal in itertools.chain.from_iterable(itertools.starmap(zip, wall._runs(first, last, own))):
            if not any(int(at.timestamp()) // 60 in minutes for minutes in lost):
                yield at, nominal

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


def _run(starts: Sequence[Start], zone: tzinfo) -> _Run:
    return [datetime.fromtimestamp(start.utc * 60, zone) for start in starts], [_naive(start.nominal) for start in starts]


class AtReboot(Record):
    """Once, when the machine or the daemon starts; no calendar tells when that is."""

    never_fires: bool = False
    random: bool = False
    runs_per_day: float = 0.0

    @property
    def shortest_gap(self) -> None:
        """Nobody knows when the machine starts next."""

    def fires_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
        """Nothing: boots are not foreseen."""
        return iter(())

    def times_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[datetime]:
        """Nothing: boots are not foreseen."""
        return iter(())

    def next_fires(self, start: datetime, zone: tzinfo, count: int) -> list[Fire]:
        """Nothing: boots are not foreseen."""
        return []


class Interval(Record):
    """FreeBSD's @N: `seconds` after the last run ended."""

    seconds: int
    never_fires: bool = False
    random: bool = False

    @property
    def runs_per_day(self) -> float:
        """Starts a day if a run takes no time."""
        return 86400 / self.seconds

    @property
    def shortest_gap(self) -> timedelta:
        """The shortest time between two starts, if a run takes no time."""
        return timedelta(seconds=self.seconds)

    def fires_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[Fire]:
        """The starts of a daemon that starts at `start`, if a run takes no time."""
        return (Fire(at, at.replace(tzinfo=None)) for at in self.times_between(start, end, zone))

    def times_between(self, start: datetime, end: datetime, zone: tzinfo) -> Iterator[datetime]:
        """The real times of these starts."""
        at = start.astimezone(UTC) + timedelta(seconds=self.seconds)
        while at < end:
            yield at.astimezone(zone)
            at += timedelta(seconds=self.seconds)

    def next_fires(self, start: datetime, zone: tzinfo, count: int) -> list[Fire]:
        """The first `count` such starts."""
        return list(itertools.islice(self.fires_between(start, datetime.max.replace(tzinfo=UTC), zone), count))


Schedule = Calendar | AtReboot | Interval
