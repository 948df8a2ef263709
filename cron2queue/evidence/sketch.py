"""Quantiles of a stream in bounded memory.

Up to 512 different values are counted exactly: that is enough for nearly every job at the resolution of a log. Above
that, values share logarithmic buckets, so that each quantile is right to within one percent (the idea of DDSketch,
Masson et al., VLDB 2019), and memory stays below about 2,000 buckets for durations between a microsecond and a year.
"""

import math
from collections.abc import Iterable, Mapping

_EXACT = 512
_ACCURACY = 0.01
_GAMMA = (1 + _ACCURACY) / (1 - _ACCURACY)
_LOG_GAMMA = math.log(_GAMMA)
_SMALLEST = 1e-6


def _bucket(value: float) -> int:
    return math.ceil(math.log(value) / _LOG_GAMMA)


def _middle(value: float) -> float:
    """The value that stands for a whole bucket, at most one percent from each value in it."""
    if value < _SMALLEST:
        return 0.0
    return 2 * _GAMMA ** _bucket(value) / (_GAMMA + 1)


class Sketch:
    """A multiset of values of zero and above; `n`, `low` and `high` are exact."""

    __slots__ = ("_counts", "_exact", "high", "low", "n")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._counts: dict[float, int] = {}
        self._exact = True
        self.n = 0
        self.low = math.inf
        self.high = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        """One more value; what is below zero counts as zero, since clocks step back."""
        if value < 0:
            value = 0.0
        self.n += 1
        if value > self.high:
            self.high = value
        if value < self.low:
            self.low = value
        if not self._exact:
            value = _middle(value)
        counts = self._counts
        if value in counts:
            counts[value] += 1
        else:
            counts[value] = 1
            if self._exact and len(counts) > _EXACT:
                self._coarsen()

    def add_counts(self, counts: Mapping[float, int]) -> None:
        """Many values at once, each as often as counted; none is below zero."""
        for value, count in counts.items():
            self.add(value)
            if count > 1:
                self.n += count - 1
                self._counts[value if self._exact else _middle(value)] += count - 1

    def _coarsen(self) -> None:
        coarse: dict[float, int] = {}
        for value, count in self._counts.items():
            middle = _middle(value)
            coarse[middle] = coarse.get(middle, 0) + count
        self._counts, self._exact = coarse, False

    def quantile(self, share: float) -> float | None:
        """The smallest value that at least this share of all values do not exceed, or None without values."""
        if not self.n:
            return None
        wanted = max(1, math.ceil(share * self.n))
        for value in sorted(self._counts):
            wanted -= self._counts[value]
            if wanted <= 0:
                return min(max(value, self.low), self.high)
        return self.high

    def at_most(self, value: float) -> int:
        """How many values do not exceed this one (to the accuracy of a bucket)."""
        return sum(count for each, count in self._counts.items() if each <= value)

    @property
    def buckets(self) -> int:
        """How many numbers it keeps."""
        return len(self._counts)
