"""New minutes keep the rhythm, and are only given where starts pile up."""

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.plan.spread import rhythm


def schedule(text: str) -> object:
    return parse(f"{text} true\n".encode(), path="x", dialect=dialect_named("debian"), kind=Kind.USER).entries[0].schedule


@pytest.mark.parametrize(
    ("text", "shifted"),
    [
        ("0 * * * *", "3 * * * *"),
        ("@hourly", "3 * * * *"),
        ("*/5 * * * *", "3-59/5 * * * *"),
        ("0,30 8-17 * * 1-5", "3-59/30 8-17 * * 1-5"),
        ("17 */4 * * *", "20 */4 * * *"),
    ],
)
def test_a_shift_keeps_the_rhythm(text: str, shifted: str) -> None:
    found = rhythm(text, schedule(text))
    assert found is not None
    assert found.text(3) == shifted
    old, new = schedule(text), schedule(shifted)
    assert old.runs_per_day == new.runs_per_day  # type: ignore[attr-defined]
    assert old.shortest_gap == new.shortest_gap  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["* * * * *", "0 3 * * *", "@daily", "1,2,40 * * * *", "*/7 * * * *", "@reboot", "0 0 1 * *"])
def test_times_that_somebody_chose_stay(text: str) -> None:
    assert rhythm(text, schedule(text)) is None


def test_a_shift_never_leaves_the_hour() -> None:
    found = rhythm("59 * * * *", schedule("59 * * * *"))
    assert found is not None
    assert found.text(2) == "1 * * * *"
