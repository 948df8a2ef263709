"""Overlaps counted on bit sets equal those counted minute by minute, clock changes included."""

import random
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import cron_truth as truth
import pytest

from cron2queue.crontab.overlap import Period, run_overlap, spread, start_overlap
from cron2queue.crontab.schedule import Calendar

BERLIN = ZoneInfo("Europe/Berlin")
EXPRESSIONS = [
    "* * * * *", "*/5 * * * *", "30 2 * * *", "0 3 * * 1-5", "0,20 1-4 * * *", "59 23 * * *", "0 0 1 * *", "0 0 13 * 5",
    "0 22-4 * * *", "*/7 */3 */2 * *", "15 14 29-31 * *", "0-59 2 * * *",
]  # fmt: skip


def schedules(dialect: str) -> list[Calendar]:
    found = [truth.read_line(expression, dialect).entries[0].schedule for expression in EXPRESSIONS]
    return [schedule for schedule in found if isinstance(schedule, Calendar)]


def starts(schedule: Calendar, period: Period, early: int = 0) -> set[int]:
    zone = period.zone or truth.UTC
    begin = datetime.combine(period.first - timedelta(days=early), datetime.min.time(), zone)
    end = datetime.combine(period.first + timedelta(days=period.days), datetime.min.time(), zone)
    return {int(fire.at.timestamp()) // 60 for fire in schedule.fires_between(begin, end, zone)}  # type: ignore[arg-type]


PERIODS = [
    Period(first=date(2026, 2, 20), days=20),
    Period(first=date(2026, 3, 20), days=15, zone=BERLIN),
    Period(first=date(2026, 10, 20), days=9, zone=BERLIN),
    Period(first=date(2026, 3, 29), days=1, zone=BERLIN),
    Period(first=date(2026, 4, 20), days=8, zone=ZoneInfo("Africa/Cairo")),
]


@pytest.mark.parametrize("dialect", ["debian", "busybox", "freebsd"])
@pytest.mark.parametrize("period", PERIODS, ids=str)
def test_common_starts_are_counted_exactly(dialect: str, period: Period) -> None:
    all_of_them = schedules(dialect)
    rows = start_overlap(all_of_them, period)
    minutes = [starts(schedule, period) for schedule in all_of_them]
    for i, row in enumerate(rows):
        assert row == [len(minutes[i] & other) for other in minutes[i + 1 :]]


@pytest.mark.parametrize("dialect", ["debian", "busybox", "freebsd"])
@pytest.mark.parametrize("period", PERIODS, ids=str)
def test_starts_within_runs_are_counted_exactly_over_midnight_and_over_days(dialect: str, period: Period) -> None:
    all_of_them = schedules(dialect)
    durations = random.Random(7).choices([1, 2, 10, 90, 400, 1439, 1440, 1441, 3000, 5000], k=len(all_of_them))
    rows = run_overlap(all_of_them, durations, period)
    minutes = [starts(schedule, period) for schedule in all_of_them]
    for i, schedule in enumerate(all_of_them):
        alive = {minute + k for minute in starts(schedule, period, early=6) for k in range(durations[i])}
        assert rows[i] == [len(alive & other) for other in minutes], (EXPRESSIONS[i], durations[i])


def test_spreading_keeps_each_start_alive_for_its_duration() -> None:
    assert spread(0b1, 1) == 0b1
    assert spread(0b1001, 3) == 0b111111
    assert spread(1 << 5, 7) == 0b1111111 << 5


def test_nothing_overlaps_with_nothing() -> None:
    assert start_overlap([], PERIODS[0]) == []
    assert run_overlap([], [], PERIODS[0]) == []
