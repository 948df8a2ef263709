"""Stamps without a year or a zone get the right ones."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from cron2queue.evidence.stamps import Clock, NoStamp, first_years, stamp_of

BERLIN = ZoneInfo("Europe/Berlin")
NEWEST = datetime(2027, 1, 10)


def utc(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]


def test_december_is_of_the_year_before_january() -> None:
    assert first_years([[b"Dec 30 10:00:00", b"Jan  2 10:00:00"]], NEWEST) == [2026]
    clock = Clock(UTC, 2026, NEWEST)
    assert clock.seconds(b"Dec 31 23:59:59") == utc(2026, 12, 31, 23, 59, 59)
    assert clock.seconds(b"Jan  1 00:00:01") == utc(2027, 1, 1, 0, 0, 1)


def test_a_late_line_of_december_is_not_of_the_next_year() -> None:
    clock = Clock(UTC, 2026, NEWEST)
    clock.seconds(b"Dec 31 23:59:59")
    clock.seconds(b"Jan  1 00:00:01")
    assert clock.seconds(b"Dec 31 23:59:58") == utc(2026, 12, 31, 23, 59, 58)
    assert clock.seconds(b"Jan  1 00:00:02") == utc(2027, 1, 1, 0, 0, 2)


def test_years_are_counted_back_over_a_rotated_set() -> None:
    samples = [[b"Nov  1 00:00:00"], [b"Mar  1 00:00:00", b"Dec 31 00:00:00"], [b"Jan  1 00:00:00", b"Jan  5 00:00:00"]]
    assert first_years(samples, NEWEST) == [2025, 2026, 2027]


def test_a_log_of_another_year_is_bounded_by_its_file_date() -> None:
    assert first_years([[b"Mar  1 00:00:00"]], datetime(2023, 5, 1)) == [2023]
    assert first_years([[b"Jul  1 00:00:00"]], datetime(2023, 5, 1)) == [2022]


def test_an_iso_stamp_tells_the_year_of_the_lines_before_it() -> None:
    assert first_years([[b"Dec 20 00:00:00", b"2025-01-02T00:00:00+01:00"]], NEWEST) == [2024]


def test_the_leap_day_finds_a_leap_year() -> None:
    assert first_years([[b"Feb 29 00:00:00"]], NEWEST) == [2024]
    with pytest.raises(NoStamp):
        Clock(UTC, 2026, NEWEST).seconds(b"Feb 29 00:00:00")


def test_the_repeated_hour_is_told_apart_by_the_step_back() -> None:
    clock = Clock(BERLIN, 2026, NEWEST)
    assert clock.seconds(b"Oct 25 02:59:01") == utc(2026, 10, 25, 0, 59, 1)
    assert clock.seconds(b"Oct 25 02:00:01") == utc(2026, 10, 25, 1, 0, 1)
    assert clock.seconds(b"Oct 25 02:59:01") == utc(2026, 10, 25, 1, 59, 1)
    assert clock.seconds(b"Oct 25 03:00:01") == utc(2026, 10, 25, 2, 0, 1)


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        (b"2026-11-30T11:06:01.250000+01:00", utc(2026, 11, 30, 10, 6, 1) + 0.25),
        (b"2026-11-30T11:06:01+0100", utc(2026, 11, 30, 10, 6, 1)),
        (b"2026-11-30 11:06:01.5+0100", utc(2026, 11, 30, 10, 6, 1) + 0.5),
        (b"2026-11-30T11:06:01Z", utc(2026, 11, 30, 11, 6, 1)),
        (b"2026-11-30T11:06:01", utc(2026, 11, 30, 10, 6, 1)),
        (b"Nov 30 11:06:01", utc(2026, 11, 30, 10, 6, 1)),
    ],
)
def test_each_form_of_stamp_is_read(stamp: bytes, expected: float) -> None:
    clock = Clock(BERLIN, 2026, NEWEST)
    assert clock.seconds(stamp) == expected
    assert clock.seconds(stamp) == expected  # from memory, too


@pytest.mark.parametrize("stamp", [b"Foo 30 11:06:01", b"Nov 31 11:06:01", b"2026-13-30T11:06:01", b"Nov 30 99:99:99", b""])
def test_what_is_no_date_is_refused(stamp: bytes) -> None:
    with pytest.raises(NoStamp):
        Clock(UTC, 2026, NEWEST).seconds(stamp)


def test_a_clock_that_was_wrong_at_boot_does_not_begin_a_new_year() -> None:
    clock = Clock(UTC, 2026, datetime(2026, 11, 30, 12))
    clock.seconds(b"Nov 30 10:00:00")
    clock.seconds(b"Jan  1 00:00:05")
    assert clock.seconds(b"Nov 30 10:05:00") == utc(2026, 11, 30, 10, 5)


def test_the_stamp_is_found_behind_a_priority() -> None:
    assert stamp_of(b"<78>Nov 30 11:06:01 cron[1]: x") == b"Nov 30 11:06:01"
    assert stamp_of(b"no stamp here") is None
