"""Time budgets come from what was measured, and stay below the interval wherever runs do."""

from datetime import UTC, datetime, timedelta

import pytest

from cron2queue.evidence.statistics import Evidence, Window
from cron2queue.plan.timing import budget, rounded_up

WINDOW = Window(start=datetime(2026, 11, 1, tzinfo=UTC), end=datetime(2026, 11, 15, tzinfo=UTC))
FIVE_MINUTES = timedelta(minutes=5)


def seen(p95: float, longest: float, n: int = 100) -> Evidence:
    return Evidence(window=WINDOW, starts=n, n=n, p95_seconds=p95, max_seconds=longest)


def test_without_a_measurement_four_fifths_of_the_interval() -> None:
    made = budget(None, FIVE_MINUTES)
    assert (made.seconds, made.why) == (240, "not measured: four fifths of the interval")
    assert budget(None, timedelta(minutes=1)).seconds == 48


@pytest.mark.parametrize("gap", [None, timedelta(days=1), timedelta(days=31)])
def test_a_rare_job_that_was_not_measured_gets_hours(gap: timedelta | None) -> None:
    assert budget(None, gap).seconds == 6 * 3600


def test_an_applications_own_scheduler_is_not_killed_below_its_interval() -> None:
    made = budget(None, timedelta(minutes=1), scheduler=True)
    assert (made.seconds, made.why) == (6 * 3600, "not measured: six hours, for a scheduler may work longer than its interval")
    assert budget(seen(20, 25), FIVE_MINUTES, scheduler=True).seconds == 45


def test_a_measured_job_gets_twice_its_usual_time() -> None:
    assert budget(seen(20, 25), FIVE_MINUTES).seconds == 45
    assert budget(seen(600, 900), timedelta(days=1)).seconds == 1800


def test_the_budget_stays_below_the_interval_while_runs_do() -> None:
    made = budget(seen(150, 200), FIVE_MINUTES)
    assert made.seconds == 240
    assert "below the interval" in made.why


def test_runs_that_are_longer_than_the_interval_are_not_killed() -> None:
    made = budget(seen(372, 500), FIVE_MINUTES)
    assert made.seconds >= 750
    assert "longer than the interval" in made.why


def test_durations_that_are_not_known_are_not_invented() -> None:
    assert budget(Evidence(window=WINDOW, starts=9, n=0), FIVE_MINUTES).seconds == 240


def test_a_declared_time_counts_where_nothing_was_measured() -> None:
    assert budget(None, timedelta(days=1), said=1800).seconds == 3600
    long = budget(None, timedelta(hours=1), said=3 * 3600)
    assert long.seconds == 6 * 3600
    assert "longer than the interval" in long.why
    assert budget(seen(20, 25), FIVE_MINUTES, said=9999).seconds == 45


def test_numbers_are_those_that_people_choose() -> None:
    assert [rounded_up(each) for each in (1, 21, 100, 1000, 20000, 30000)] == [20, 30, 120, 1200, 21600, 32400]
