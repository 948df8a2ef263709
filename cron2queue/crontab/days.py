"""Which days of the calendar a schedule names, as sets of bits: no day is ever searched for."""

import functools
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

EPOCH_DAY = date(1970, 1, 1).toordinal()
_LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Longest length of each month in any year: the 29th of February exists.
_LONGEST = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
ALL_WEEKDAYS = 0x7F


def is_leap(year: int) -> bool:
    """Gregorian leap years."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    """Number of days of the month."""
    return 29 if month == 2 and is_leap(year) else _LENGTHS[month]


def weekday_bits(weekdays: int) -> int:
    """Bits 0-6 (Sunday first) of a set in which 7 may stand for Sunday too."""
    return (weekdays | weekdays >> 7) & ALL_WEEKDAYS


@functools.lru_cache(maxsize=2048)
def _weekday_pattern(weekdays: int, first_weekday: int) -> int:
    """31 days of a month that begins on `first_weekday`: bit 0 is the first day."""
    return sum(1 << day for day in range(31) if weekdays >> (first_weekday + day) % 7 & 1)


class DayRule(NamedTuple):
    """The day fields of a schedule: bits of dates, months and weekdays, whether `either` suffices, counted `from_end`."""

    days: int
    months: int
    weekdays: int
    either: bool = False
    from_end: bool = False


@functools.lru_cache(maxsize=1024)
def _from_end(days: int, length: int) -> int:
    """Bits of dates for days counted from the last one."""
    return sum(1 << length + 1 - day for day in range(1, length + 1) if days >> day & 1)


@functools.lru_cache(maxsize=8192)
def _month_bits(rule: DayRule, first_weekday: int, length: int) -> int:
    pattern = _weekday_pattern(weekday_bits(rule.weekdays), first_weekday)
    by_date = (_from_end(rule.days, length) if rule.from_end else rule.days) >> 1 & 0x7FFFFFFF
    return (by_date | pattern if rule.either else by_date & pattern) & (1 << length) - 1


def _months(first: date, days: int) -> Iterator[tuple[int, int, int, int]]:
    """Year, month, weekday of its first day, and the place of that day relative to `first` (at most 0 for the first)."""
    year, month = first.year, first.month
    place = 1 - first.day
    weekday = (first.toordinal() + place) % 7
    while place < days:
        yield year, month, weekday, place
        length = month_length(year, month)
        place += length
        weekday = (weekday + length) % 7
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)


@functools.lru_cache(maxsize=1024)
def day_bits(first: date, count: int, rule: DayRule) -> int:
    """Bit i is set when day `first` + i is named: by date and weekday both, or by either of them."""
    bits = 0
    for year, month, weekday, place in _months(first, count):
        if rule.months >> month & 1:
            named = _month_bits(rule, weekday, month_length(year, month))
            bits |= named << place if place >= 0 else named >> -place
    return bits & ((1 << count) - 1)


def names_a_day(rule: DayRule) -> bool:
    """Whether any day of any year is named. Every date, the 29th of February too, falls on every weekday in 400 years."""
    weekday_named = bool(weekday_bits(rule.weekdays))
    date_named = any(rule.months >> month & 1 and rule.days >> 1 & ((1 << _LONGEST[month]) - 1) for month in range(1, 13))
    if rule.either:
        return date_named or (weekday_named and bool(rule.months >> 1 & 0xFFF))
    return date_named and weekday_named


def set_bits(bits: int) -> Iterator[int]:
    """Positions of the set bits, lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


# A 28-year cycle: each date falls on each weekday equally often.
_CYCLE_FIRST, _CYCLE_DAYS = date(2001, 1, 1), 28 * 365 + 7


@functools.lru_cache(maxsize=4096)
def density(rule: DayRule) -> tuple[float, int | None]:
    """The share of days that are named, and the fewest days between two of them. A fleet has few kinds of days: it is kept."""
    named = day_bits(_CYCLE_FIRST, _CYCLE_DAYS, rule)
    apart = next((distance for distance in range(1, _CYCLE_DAYS) if named & named >> distance), None)
    return named.bit_count() / _CYCLE_DAYS, apart
