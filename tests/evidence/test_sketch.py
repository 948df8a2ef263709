"""Quantiles are exact for few values and right to a percent for many."""

import math

from hypothesis import given
from hypothesis import strategies as st

from cron2queue.evidence.sketch import Sketch

DURATIONS = st.floats(min_value=0, max_value=1e7, allow_nan=False)


def true_quantile(values: list[float], share: float) -> float:
    return sorted(values)[max(1, math.ceil(share * len(values))) - 1]


@given(st.lists(DURATIONS, min_size=1, max_size=300), st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0]))
def test_few_values_are_exact(values: list[float], share: float) -> None:
    assert Sketch(values).quantile(share) == true_quantile(values, share)


def test_many_values_are_right_to_a_percent_in_little_memory() -> None:
    values = [(i * 7919 % 100_003) / 37 + 0.001 for i in range(100_000)]
    sketch = Sketch(values)
    for share in (0.01, 0.25, 0.5, 0.95, 0.999):
        assert math.isclose(sketch.quantile(share) or 0, true_quantile(values, share), rel_tol=0.011)
    assert sketch.buckets < 2_000
    assert (sketch.n, sketch.low, sketch.high) == (100_000, min(values), max(values))


@given(st.lists(DURATIONS, min_size=1, max_size=9), st.integers(min_value=0, max_value=1000))
def test_a_quantile_never_leaves_the_values(values: list[float], more: int) -> None:
    every = [value + step / 7 for step in range(more) for value in values[:2]] + values
    sketch = Sketch(every)
    assert min(every) <= (sketch.quantile(0.5) or 0) <= max(every)
    assert math.isclose(sketch.quantile(1.0) or 0, max(every), rel_tol=0.011)


def test_no_values_have_no_quantile_and_a_step_back_counts_as_zero() -> None:
    assert Sketch().quantile(0.5) is None
    assert Sketch([-3.0]).quantile(0.5) == 0
    assert Sketch([1, 2, 3]).at_most(2) == 2
