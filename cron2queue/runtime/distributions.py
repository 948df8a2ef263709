"""Durations in few numbers: a ladder of bounds for the roll-ups, and percentiles of weighted values.

The ladder is the series R10 of preferred numbers (ten steps a decade, each about 26 % wider), from one millisecond
to a day and more; Prometheus gets every third or fourth rung, which are rungs of the same ladder.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

_R10 = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0)
BOUNDS: tuple[float, ...] = (*(round(step * 10.0**decade, 9) for decade in range(-3, 5) for step in _R10), 100_000.0)
COARSE: tuple[float, ...] = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0),
    *(100.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0, 25_000.0, 100_000.0),
)


def rung(seconds: float) -> int:
    """Index of the first bound that is not below the value; len(BOUNDS) for everything above the last."""
    return bisect_left(BOUNDS, max(0.0, seconds))


def rungs(seconds: Iterable[float]) -> list[int]:
    """The same for many."""
    return [bisect_left(BOUNDS, each) for each in seconds]  # the first bound is above zero


def percentile(weighted: Iterable[tuple[float, int]], share: float) -> float | None:
    """The value at this share (0..1) of (value, weight) pairs, nearest rank; None of nothing."""
    ordered = sorted((value, weight) for value, weight in weighted if weight > 0)
    total = sum(weight for _, weight in ordered)
    rank = max(1, math.ceil(share * total))
    for value, weight in ordered:
        rank -= weight
        if rank <= 0:
            return value
    return None


def cumulative(counts: Sequence[tuple[int, int]]) -> list[tuple[float, int]]:
    """(bound, jobs not above it) for each coarse bound, from (rung, n) pairs; the rest belongs under +Inf."""
    return [(bound, sum(n for index, n in counts if index < len(BOUNDS) and BOUNDS[index] <= bound)) for bound in COARSE]
