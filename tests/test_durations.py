"""One way to say how long something takes, never more exact than it is known."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.durations import duration

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0, "0s"),
        (-5, "0s"),
        (0.0001, "<1ms"),
        (0.42, "420ms"),
        (0.9999, "1s"),
        (5, "5s"),
        (12.34, "12.3s"),
        (59.97, "1m"),
        (300, "5m"),
        (372, "6m12s"),
        (1330, "22m10s"),
        (3600, "1h"),
        (3900, "1h05m"),
        (11_130, "3h05m"),
        (86_400, "1d"),
        (90_000, "1d01h"),
        (187_200, "2d04h"),
    ],
)
def test_a_duration_is_short_and_never_shows_sixty(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "resolution", "text"),
    [
        *((None, 1, "-"), (0, 1, "<1s"), (0.9, 1, "<1s"), (1, 1, "1s"), (12.4, 1, "12s"), (59.6, 1, "1m"), (3900, 1, "1h05m")),
        *((0.4, 0.1, "400ms"), (0.04, 0.1, "<100ms"), (12.34, 0.1, "12.3s"), (0, 0.1, "0s"), (0.0004, 1e-6, "<1ms")),
    ],
)
def test_no_part_is_told_that_is_not_known(seconds: float | None, resolution: float, text: str) -> None:
    assert duration(seconds, resolution=resolution) == text


@given(st.floats(0, 10**9), st.sampled_from([1e-6, 0.001, 1.0]))
def test_what_is_said_is_what_it_was_to_one_part_in_twenty(seconds: float, resolution: float) -> None:
    text = duration(seconds, resolution=resolution)
    assert re.fullmatch(r"<?\d+(\.\d)?(ms|s)|\d+m(\d\ds)?|\d+h(\d\dm)?|\d+d(\d\dh)?", text)
    said = sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+)([a-z]+)", text))
    assert seconds < said if text.startswith("<") else abs(said - seconds) <= max(0.5, seconds / 20)
