"""Which entries meet: exact counts for each pair, by days times minutes of the day, on integers used as bit sets.

Wall time is regular on all days but those of clock changes; these, and the days that a run of theirs reaches into, are
left out of the product and counted by real minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from cron2queue.crontab.clocks import changes
from cron2queue.crontab.schedule import Calendar
from cron2queue.record import Record

DAY = 1440
_DAY_BITS = (1 << DAY) - 1
# Real minutes of a day with a clock change: none has more than two days' worth.
_ROOM = 2 * DAY
_ROOM_BITS = (1 << _ROOM) - 1


class Period(Record):
    """`days` days from `first` on, in the daemon's zone (None: a zone without clock changes)."""

    first: date
    days: int
    zone: tzinfo | None = None


def start_overlap(schedules: Sequence[Calendar], period: Period) -> list[list[int]]:
    """Row i, column k: in how many minutes schedule i and schedule i+1+k start together."""
    special = _special_days(period, reach=0)
    plain = ~sum(1 << day for day in special)
    days = [schedule.day_bits(period.first, period.days) & plain for schedule in schedules]
    minutes = [schedule.minute_bits for schedule in schedules]
    common, kinds = _common_days(days)
    odd = _on_special_days(schedules, period, special)
    everything = list(zip(kinds, minutes, odd, strict=True))
    rows = []
    for i, (kind, own, own_odd) in enumerate(everything):
        on = common[kind]
        later = everything[i + 1 :]
        if own_odd:
            rows.append([on[k] * (own & m).bit_count() + (own_odd & o).bit_count() for k, m, o in later])
        else:
            rows.append([on[k] * (own & m).bit_count() for k, m, _ in later])
    return rows


def _on_special_days(schedules: Sequence[Calendar], period: Period, special: Sequence[int]) -> list[int]:
    """The starts of each schedule in the real minutes of the special days, side by side in one set."""
    return [
        sum(_real_minutes(schedule, period, day, 0) << place * _ROOM for place, day in enumerate(special))
        for schedule in schedules
    ]


def _common_days(days: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """How many days each two of the distinct sets have in common, and which set each schedule has."""
    distinct = list(dict.fromkeys(days))
    places = {bits: place for place, bits in enumerate(distinct)}
    common = [[(a & b).bit_count() for b in distinct] for a in distinct]
    return common, [places[bits] for bits in days]


def _special_days(period: Period, reach: int) -> list[int]:
    """Days of clock changes, by place in the period, with the `reach` days after them."""
    if period.zone is None:
        return []
    begin = _midnight(period, -reach - 1)
    end = _midnight(period, period.days)
    found: set[int] = set()
    for change in changes(period.zone, begin, end):
        # A jump at midnight belongs to both days.
        for utc in (change.utc - 1, change.utc):
            day = (datetime.fromtimestamp(utc * 60, period.zone).date() - period.first).days
            found.update(range(day, day + reach + 1))
    return sorted(day for day in found if 0 <= day < period.days)


def _midnight(period: Period, day: int) -> int:
    """The real minute in which day number `day` of the period begins."""
    begin = datetime.combine(period.first + timedelta(days=day), time(), period.zone or UTC)
    return int(begin.timestamp()) // 60


def _real_minutes(schedule: Calendar, period: Period, day: int, before: int) -> int:
    """Bit n: a start in real minute n of what begins `before` minutes ahead of the day and ends with it."""
    begin, end = _midnight(period, day) - before, _midnight(period, day + 1)
    bits = 0
    for minute in schedule.real_minutes(_moment(begin), _moment(end), period.zone or UTC):
        bits |= 1 << minute - begin
    return bits


def _moment(utc: int) -> datetime:
    return datetime.fromtimestamp(utc * 60, UTC)


def spread(starts: int, duration: int) -> int:
    """Bit n: something that began at a set bit at most `duration` - 1 places before is still going on."""
    reached = 1
    while reached < duration:
        step = min(reached, duration - reached)
        starts |= starts << step
        reached += step
    return starts


@dataclass(frozen=True, slots=True)
class _Alive:
    """When a schedule's runs go on: whole days, and by minute today, on the last day reached, and on days that are both."""

    whole: int
    today: int
    last: int
    both: int
    today_minutes: int
    last_minutes: int


def _alive(days: int, minutes: int, duration: int, count: int) -> _Alive:
    all_days = (1 << count) - 1
    going = spread(minutes, min(duration, 2 * DAY))
    reach = max(0, -(-(minutes.bit_length() - 1 + duration) // DAY) - 1) if minutes else 0
    whole = 0
    for day in range(1, reach):
        whole |= days << day
    last = days << reach & all_days if reach else 0
    whole &= all_days
    left_over = (minutes.bit_length() - 1 + duration) - reach * DAY
    last_minutes = going >> DAY & _DAY_BITS if reach == 1 else (1 << max(0, left_over)) - 1
    free = ~whole
    return _Alive(whole, days & ~last & free, last & ~days & free, days & last & free, going & _DAY_BITS, last_minutes)


def run_overlap(schedules: Sequence[Calendar], minutes: Sequence[int], period: Period) -> list[list[int]]:
    """Row i, column j: how many starts of schedule j fall into a run of schedule i, which takes `minutes[i]` (1 or more).

    A start in the same minute counts, so that row i, column i is the number of its starts.
    """
    longest = max(minutes, default=1)
    special = _special_days(period, reach=-(-longest // DAY))
    plain = (1 << period.days) - 1 & ~sum(1 << day for day in special)
    reach = -(-longest // DAY)
    early = date.fromordinal(max(1, period.first.toordinal() - reach))
    named = [schedule.day_bits(early, period.days + reach) for schedule in schedules]
    starts = [(bits >> reach & plain, schedule.minute_bits) for bits, schedule in zip(named, schedules, strict=True)]
    rows = []
    for bits, schedule, duration in zip(named, schedules, minutes, strict=True):
        alive = _alive(bits, schedule.minute_bits, duration, period.days + reach)
        rows.append(_met(alive, starts, reach))
    if special:
        _add_runs(rows, schedules, minutes, period, special)
    return rows


def _met(alive: _Alive, starts: Sequence[tuple[int, int]], reach: int) -> list[int]:
    today, last, both, whole = (bits >> reach for bits in (alive.today, alive.last, alive.both, alive.whole))
    if not (last or both or whole):
        going = alive.today_minutes
        return [(today & days).bit_count() * (going & minutes).bit_count() for days, minutes in starts]
    either = alive.today_minutes | alive.last_minutes
    return [
        (whole & days).bit_count() * minutes.bit_count()
        + (today & days).bit_count() * (alive.today_minutes & minutes).bit_count()
        + (last & days).bit_count() * (alive.last_minutes & minutes).bit_count()
        + (both & days).bit_count() * (either & minutes).bit_count()
        for days, minutes in starts
    ]


def _add_runs(
    rows: list[list[int]], schedules: Sequence[Calendar], minutes: Sequence[int], period: Period, special: Sequence[int]
) -> None:
    """Count the special days by real minutes; runs that began before such a day count too."""
    starts = _on_special_days(schedules, period, special)
    for i, (schedule, duration) in enumerate(zip(schedules, minutes, strict=True)):
        going = 0
        for place, day in enumerate(special):
            alive = spread(_real_minutes(schedule, period, day, duration - 1), duration) >> duration - 1
            going |= (alive & _ROOM_BITS) << place * _ROOM
        if going:
            rows[i] = [count + (going & other).bit_count() for count, other in zip(rows[i], starts, strict=True)]
