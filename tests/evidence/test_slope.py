"""The slope of joined parts is that of all their values."""

import random

import pytest

from cron2queue.evidence.slope import Slope


def grown(chance: random.Random, first: int, last: int) -> tuple[list[float], list[float]]:
    """Values of each hour, which grow by two a day."""
    hours = range(first, last)
    return [1.76e9 + 3_600 * hour for hour in hours], [50 + hour / 12 + chance.random() for hour in hours]


def test_parts_joined_in_any_order_have_the_slope_of_the_whole() -> None:
    parts = [grown(random.Random(number), *hours) for number, hours in enumerate(((0, 100), (100, 101), (101, 400)))]
    whole, joined = Slope(), Slope()
    for times, values in parts:
        whole.add(times, values)
    for times, values in reversed(parts):
        part = Slope()
        part.add(times, values)
        joined.join(part)
    joined.join(Slope())
    assert joined.n == whole.n == 400
    assert whole.per_day() == pytest.approx(2, rel=0.01)
    assert joined.per_day() == pytest.approx(whole.per_day(), rel=1e-9)


def test_a_part_joined_to_nothing_is_the_same() -> None:
    part, joined = Slope(), Slope()
    part.add(*grown(random.Random(1), 0, 300))
    joined.join(part)
    assert joined.per_day() == part.per_day()


def test_few_values_or_a_short_time_have_no_slope() -> None:
    few, short = Slope(), Slope()
    few.add(*grown(random.Random(1), 0, 19))
    short.add(*grown(random.Random(1), 0, 24))
    assert few.per_day() is None
    assert short.per_day() is None
