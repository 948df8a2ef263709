"""Durations in few numbers."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from cron2queue.runtime.distributions import BOUNDS, COARSE, cumulative, percentile, rung


def test_the_ladder_rises_by_at_most_29_percent_a_rung() -> None:
    assert list(BOUNDS) == sorted(BOUNDS)
    assert all(upper / lower < 1.29 for lower, upper in itertools.pairwise(BOUNDS))


def test_every_coarse_bound_is_a_rung() -> None:
    assert set(COARSE) <= set(BOUNDS)


@given(st.floats(min_value=0, max_value=1e9))
def test_a_value_lies_on_its_rung(seconds: float) -> None:
    index = rung(seconds)
    assert index == len(BOUNDS) or seconds <= BOUNDS[index]
    assert index == 0 or seconds > BOUNDS[index - 1]


def test_percentiles_are_those_of_the_sorted_list() -> None:
    values = [random.Random(7).expovariate(1) for _ in range(999)]
    assert percentile([(value, 1) for value in values], 0.5) == sorted(values)[499]
    assert percentile([(value, 1) for value in values], 0.95) == sorted(values)[949]


def test_weights_count_as_repetitions() -> None:
    assert percentile([(1.0, 94), (9.0, 6)], 0.95) == 9.0
    assert percentile([(1.0, 95), (9.0, 5)], 0.95) == 1.0


def test_of_nothing_there_is_no_percentile() -> None:
    assert percentile([], 0.5) is None
    assert percentile([(1.0, 0)], 0.5) is None


def test_cumulative_counts_never_fall_and_leave_only_the_longest_out() -> None:
    counts = [(rung(value), 1) for value in (0.001, 0.3, 7.0, 4000.0, 1e6)]
    steps = [n for _, n in cumulative(counts)]
    assert steps == sorted(steps)
    assert steps[-1] == 4
