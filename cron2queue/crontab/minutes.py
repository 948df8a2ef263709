"""The minutes that a schedule names on a day, and on many days at once: a year of them costs no step a minute."""

import functools
import itertools
import operator
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from cron2queue.crontab.days import set_bits

DAY = 1440
# 32 bits hold the minutes from 1970 to the year 6053.
_PACKED_END = 1 << 31


class DayTimes:
    """Minutes of a day, ascending: to be counted, as the distances from midnight, or moved to any number of days."""

    __slots__ = ("_deltas", "_lanes", "minutes")

    def __init__(self, minutes: Sequence[int]) -> None:
        self.minutes = minutes
        self._deltas: tuple[timedelta, ...] | None = None
        self._lanes: tuple[int, int] | None = None

    def after(self, midnight: datetime) -> Iterator[datetime]:
        """The wall times that they are on one day."""
        if self._deltas is None:
            self._deltas = tuple(timedelta(minutes=minute) for minute in self.minutes)
        return map(operator.add, itertools.repeat(midnight), self._deltas)

    def within(self, first: int, last: int) -> "DayTimes":
        """Those from `first` to before `last`."""
        if first <= 0 and last >= DAY:
            return self
        return DayTimes([minute for minute in self.minutes if first <= minute < last])

    def packed(self, by: int) -> bytes:
        """Each of them plus `by`, as 32-bit numbers side by side: one sum of two large integers adds to all at once."""
        if self._lanes is None:
            self._lanes = _lanes(self.minutes), _lanes([1] * len(self.minutes))
        minutes, ones = self._lanes
        return (minutes + ones * by).to_bytes(4 * len(self.minutes), sys.byteorder)


def _lanes(numbers: Sequence[int]) -> int:
    return int.from_bytes(array("i", numbers).tobytes(), sys.byteorder)


@functools.lru_cache(maxsize=4096)
def times_of_day(minutes: int, hours: int) -> DayTimes:
    """The times of a day whose minute and hour both stand in the sets."""
    return DayTimes(tuple(hour * 60 + minute for hour in set_bits(hours) for minute in set_bits(minutes)))


# The one time 0:00: for starts that are known one by one.
MIDNIGHT = DayTimes((0,))


def moved_together(days: Iterable[tuple[int, DayTimes]], first: int, last: int) -> "array[int]":
    """Minutes and times of day, summed and in one array; all sums are from `first` to before `last`."""
    if first >= 0 and last <= _PACKED_END:
        found = array("i")
        for begin, times in days:
            found.frombytes(times.packed(begin))
        return found
    return array("q", itertools.chain.from_iterable(map(begin.__add__, times.minutes) for begin, times in days))
