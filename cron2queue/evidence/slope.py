"""Whether something grows: the line through values by least squares, from running sums."""

from collections.abc import Sequence
from operator import mul

_DAY = 86_400.0
_FEWEST = 20
_SHORTEST = 3.0  # days
_SURE = 4.0  # a slope counts when it is this many standard errors from zero


class Slope:
    """The sums of values and of their times, in seconds from the first."""

    __slots__ = ("_origin", "_tt", "_tv", "_vv", "n", "t", "v")

    def __init__(self) -> None:
        self.n = 0
        self.t = self.v = self._tt = self._tv = self._vv = 0.0
        self._origin: float | None = None

    def add(self, times: Sequence[float], values: Sequence[float]) -> None:
        """Values, and when they were."""
        if self._origin is None:
            self._origin = times[0]
        origin = self._origin
        after = [at - origin for at in times]
        self.n += len(after)
        self.t += sum(after)
        self.v += sum(values)
        self._tt += sum(map(mul, after, after))
        self._tv += sum(map(mul, after, values))
        self._vv += sum(map(mul, values, values))

    def join(self, other: "Slope") -> None:
        """All values of another, too."""
        if other._origin is None:
            return
        if self._origin is None:
            self._origin = other._origin
        later = other._origin - self._origin
        self.n += other.n
        self.t += other.t + later * other.n
        self.v += other.v
        self._tt += other._tt + later * (2 * other.t + later * other.n)
        self._tv += other._tv + later * other.v
        self._vv += other._vv

    def per_day(self) -> float | None:
        """How much a value grows each day; None when there are too few to say, 0.0 when it is not clear."""
        if self.n < _FEWEST:
            return None
        spread = self._tt - self.t * self.t / self.n
        if spread <= 0 or spread / self.n < (_SHORTEST * _DAY / 4) ** 2:
            return None
        slope = (self._tv - self.t * self.v / self.n) / spread
        left = max(0.0, self._vv - self.v * self.v / self.n - slope * slope * spread)
        error = (left / (self.n - 2) / spread) ** 0.5
        return slope * _DAY if abs(slope) > _SURE * error else 0.0
