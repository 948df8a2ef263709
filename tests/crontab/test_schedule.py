"""Schedules as bit sets: what they name, how often, at what distance, and that nothing is searched for."""

import itertools
from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import cron_truth as truth
import pytest
from croniter import croniter
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from cron2queue.crontab.schedule import AtReboot, Calendar, Interval

UTC = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")


def calendar(expression: str, dialect: str = "debian") -> Calendar:
    schedule = truth.read_line(expression, dialect).entries[0].schedule
    assert isinstance(schedule, Calendar)
    return schedule


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=truth.UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("expression", "dialect"),
    [
        ("0 22-4 * * *", "debian"), ("0 0 * * sat-sun", "debian"), ("0 0 * * fri-mon", "cronie"), ("50-10 * * * *", "freebsd"),
        ("0 0 30 2 *", "debian"), ("0 0 31 4,6,9,11 *", "openbsd"), ("0 0 30-31 2 *", "busybox"), ("? * * * *", "busybox"),
        ("0 0 30 2 *", "systemd-cron"),
    ],
)  # fmt: skip
def test_what_never_fires_is_known_without_search(expression: str, dialect: str) -> None:
    schedule = calendar(expression, dialect)
    assert schedule.never_fires
    assert schedule.next_fires(utc(2026, 1, 1), UTC, 3) == []
    assert list(schedule.fires_between(utc(2026, 1, 1), utc(9000, 1, 1), UTC)) == []
    assert schedule.runs_per_day == 0
    assert schedule.shortest_gap is None


@pytest.mark.parametrize("expression", ["0 0 29 2 *", "0 0 30 2 1", "0 0 31 2 5", "0 0 29 2 */7"])
def test_what_fires_seldom_is_not_called_never(expression: str) -> None:
    schedule = calendar(expression)
    assert not schedule.never_fires
    assert len(schedule.next_fires(utc(2026, 1, 1), UTC, 2)) == 2


def test_the_leap_day_on_a_given_weekday_is_found_over_the_century_without_one() -> None:
    first = calendar("0 0 29 2 */7").next_fires(utc(2089, 1, 1), UTC, 1)
    assert first[0].nominal == datetime(2128, 2, 29)


@pytest.mark.parametrize(
    ("expression", "gap", "a_day"),
    [
        ("*/5 * * * *", timedelta(minutes=5), 288.0),
        ("*/7 * * * *", timedelta(minutes=4), 216.0),
        ("0 3 * * *", timedelta(days=1), 1.0),
        ("0 22,23 * * *", timedelta(hours=1), 2.0),
        ("50 23 * * *", timedelta(days=1), 1.0),
        ("0 0,23 * * *", timedelta(hours=1), 2.0),
        ("0 0 * * 1", timedelta(days=7), 1 / 7),
        ("0 0 1,3 * *", timedelta(days=2), 24 / 365.25),
    ],
)
def test_density_and_the_shortest_gap_come_from_the_sets(expression: str, gap: timedelta, a_day: float) -> None:
    schedule = calendar(expression)
    assert schedule.shortest_gap == gap
    assert schedule.runs_per_day == pytest.approx(a_day, rel=1e-9)


def test_a_day_set_is_the_days_one_by_one() -> None:
    schedule = calendar("0 0 13 * 5")
    first = date(2026, 1, 20)
    bits = schedule.day_bits(first, 500)
    one_by_one = sum(schedule.matches_day(first + timedelta(days=day)) << day for day in range(500))
    assert bits == one_by_one
    assert schedule.matches_day(date(2026, 2, 13))
    assert not schedule.matches_day(date(2026, 2, 14))


def test_the_window_takes_its_begin_and_leaves_its_end() -> None:
    schedule = calendar("*/5 * * * *")
    fires = list(schedule.fires_between(utc(2026, 1, 1), utc(2026, 1, 1, 0, 10), UTC))
    assert [fire.nominal.minute for fire in fires] == [0, 5]
    later = list(schedule.fires_between(utc(2026, 1, 1, 0, 0, 1), utc(2026, 1, 1, 0, 10, 1), UTC))
    assert [fire.nominal.minute for fire in later] == [5, 10]
    assert list(schedule.fires_between(utc(2026, 1, 2), utc(2026, 1, 1), UTC)) == []


@pytest.mark.parametrize("dialect", [*truth.MEASURED, "systemd-cron"])
@pytest.mark.parametrize("expression", ["*/15 * * * *", "30 2 * * *", "0 1,2,3 * * *", "5 0 * * *"])
def test_windows_cut_anywhere_give_the_same_fires_as_one(dialect: str, expression: str) -> None:
    schedule = calendar(expression, dialect)
    for begin in (utc(2026, 3, 28), utc(2026, 10, 24)):
        whole = list(schedule.fires_between(begin, begin + timedelta(days=2), BERLIN))
        cuts = [begin + timedelta(minutes=37 * step) for step in range(78)] + [begin + timedelta(days=2)]
        pieces = [fire for a, b in itertools.pairwise(cuts) for fire in schedule.fires_between(a, b, BERLIN)]
        assert pieces == whole
        instants = [fire.at.timestamp() for fire in whole]  # of one zone, datetimes compare by their wall time
        assert instants == sorted(instants)


ALL_KINDS_OF_DAYS = (utc(2026, 1, 1), utc(2027, 1, 1))


@pytest.mark.parametrize("zone", [BERLIN, ZoneInfo("America/New_York"), ZoneInfo("Australia/Lord_Howe"), UTC], ids=str)
@pytest.mark.parametrize("dialect", truth.MEASURED)
def test_real_minutes_and_times_are_the_fires_without_the_rest(dialect: str, zone: ZoneInfo) -> None:
    for expression in ("*/15 * * * *", "30 2 * * *", "0-59 2 * * *", "7 1,2,3 * * 0"):
        schedule = calendar(expression, dialect)
        fires = list(schedule.fires_between(*ALL_KINDS_OF_DAYS, zone))
        instants = [fire.at.timestamp() for fire in fires]
        assert [minute * 60 for minute in schedule.real_minutes(*ALL_KINDS_OF_DAYS, zone)] == instants
        assert [at.timestamp() for at in schedule.times_between(*ALL_KINDS_OF_DAYS, zone)] == instants


@pytest.mark.parametrize("host", [BERLIN, UTC], ids=str)
@pytest.mark.parametrize("own", ["America/New_York", "EST5EDT,M3.2.0,M11.1.0", "Asia/Kolkata"])
def test_real_minutes_and_times_are_those_of_the_zone_of_the_entry_too(own: str, host: ZoneInfo) -> None:
    for expression in ("*/30 * * * *", "30 2 * * *"):
        schedule = replace(calendar(expression, "cronie"), zone=own)
        instants = [fire.at.timestamp() for fire in schedule.fires_between(*ALL_KINDS_OF_DAYS, host)]
        assert len(instants) > 300
        assert [minute * 60 for minute in schedule.real_minutes(*ALL_KINDS_OF_DAYS, host)] == instants
        assert [at.timestamp() for at in schedule.times_between(*ALL_KINDS_OF_DAYS, host)] == instants


def test_minutes_between_are_the_wall_minutes() -> None:
    found = calendar("30 1 * * *").minutes_between(datetime(1970, 1, 1), datetime(1970, 1, 4))
    assert list(found) == [90, 1530, 2970]


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        (datetime(2026, 1, 29), datetime(2026, 2, 12)), (datetime(2026, 1, 1, 0, 7), datetime(2026, 1, 3, 5, 11)),
        (datetime(2026, 1, 1, 3, 0, 1), datetime(2026, 1, 1, 3, 50)),
        (datetime(1969, 12, 30, 7, 31), datetime(1970, 1, 2, 1, 2)),
        (datetime(6053, 1, 20), datetime(6053, 1, 26)), (datetime(1, 1, 1), datetime(1, 1, 3)),
        (datetime(9999, 12, 30), datetime(9999, 12, 31, 23)), (datetime(2026, 1, 2), datetime(2026, 1, 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "expression", ["*/5 * * * *", "3,17,58 2-4 * * *", "0 0 * * *", "59 23 * * 1-5", "* * * * *", "0 0 30 2 *"]
)
def test_minutes_between_are_each_minute_that_matches_wherever_the_window_is_cut(
    expression: str, begin: datetime, end: datetime
) -> None:
    schedule, epoch = calendar(expression), datetime(1970, 1, 1)
    first = -((epoch - begin) // timedelta(minutes=1))
    each = itertools.takewhile(lambda minute: epoch + timedelta(minutes=minute) < end, itertools.count(first))
    wanted = [minute for minute in each if schedule.matches(epoch + timedelta(minutes=minute))]
    assert list(schedule.minutes_between(begin, end)) == wanted


def test_a_restarted_daemon_knows_the_offset_that_a_running_one_missed() -> None:
    almaty = ZoneInfo("Asia/Almaty")
    schedule = calendar("0 12 * * *", "cronie")
    running = schedule.fires_between(utc(2024, 2, 29), utc(2024, 3, 3), almaty)
    assert [f"{fire.at:%d %H:%M}" for fire in running] == ["29 12:00", "01 11:00", "02 11:00"]
    restarted = schedule.fires_between(utc(2024, 3, 2), utc(2024, 3, 3), almaty)
    assert [f"{fire.at:%d %H:%M}" for fire in restarted] == ["02 12:00"]


def test_boot_and_intervals_are_schedules_too() -> None:
    assert list(AtReboot().fires_between(utc(2026, 1, 1), utc(2027, 1, 1), UTC)) == []
    assert list(AtReboot().times_between(utc(2026, 1, 1), utc(2027, 1, 1), UTC)) == []
    fires = Interval(seconds=90).next_fires(utc(2026, 1, 1), BERLIN, 2)
    assert [fire.at.isoformat() for fire in fires] == ["2026-01-01T01:01:30+01:00", "2026-01-01T01:03:00+01:00"]
    assert Interval(seconds=60).runs_per_day == 1440


# --- second readers as oracles, within what they and Debian cron agree on -------------------------------------------

NUMBERS = {0: (0, 59), 1: (0, 23), 2: (1, 28), 3: (1, 12), 4: (0, 6)}


@st.composite
def agreed_field(draw: st.DrawFn, place: int) -> str:
    low, high = NUMBERS[place]
    value = st.integers(low, high)
    kind = draw(st.sampled_from(["*", "*", "value", "list", "range", "step"]))
    if kind == "*" or (kind == "step" and place in (2, 4)):  # a step on a day field is where readers differ
        return "*"
    if kind == "value":
        return str(draw(value))
    if kind == "list":
        return ",".join(str(each) for each in sorted(draw(st.sets(value, min_size=2, max_size=4))))
    first = draw(st.integers(low, high - 1))
    last = draw(st.integers(first + 1, high))
    return f"{first}-{last}" if kind == "range" else f"*/{draw(st.integers(1, high))}"


EXPRESSIONS = st.tuples(*(agreed_field(place) for place in range(5))).map(" ".join)


@settings(max_examples=120, deadline=None)
@given(EXPRESSIONS, st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)))
def test_cronsim_and_croniter_agree_where_debian_and_they_read_alike(expression: str, begin: datetime) -> None:
    begin = begin.replace(second=0, microsecond=0)
    ours = calendar(expression).next_fires(begin.replace(tzinfo=truth.UTC) + timedelta(minutes=1), UTC, 12)
    simulated = CronSim(expression, begin)
    assert [fire.nominal for fire in ours] == [next(simulated) for _ in ours]
    iterated = croniter(expression, begin)
    assert [fire.nominal for fire in ours] == [iterated.get_next(datetime) for _ in ours]
