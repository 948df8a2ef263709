"""Zones as the C library takes them: it is asked itself, through time.localtime, for the same texts."""

import calendar
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cron2queue.crontab.zones import zone_named

BEGIN = calendar.timegm((2027, 12, 20, 0, 0, 0))
# Two turns of the year, one of them into a leap year, at odd minutes.
MOMENTS = range(BEGIN, BEGIN + 400 * 86400, 5 * 3600 + 7 * 60)


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("Europe/Berlin", 1), (":Europe/Berlin", 1), ("/usr/share/zoneinfo/Asia/Tokyo", 9), ("UTC+3", -3), ("FOO-02", 2),
        ("<+03>-3", 3), ("A3", 0), ("No/Where", 0), ("../etc/passwd", 0), ("", 0), ("\0", 0), ("Europe", 0), ("x" * 5000, 0),
        ("UTC+3\n", 0), ("AAA3BBB,M13.1.0,M2.1.0", 0), ("AAA3BBB,J0,J9", -3), ("AAA3BBB,366,9", -3), ("UTC+٣", 0),
    ],
)  # fmt: skip
def test_a_zone_is_taken_as_the_c_library_takes_it(name: str, offset: int) -> None:
    assert zone_named(name).utcoffset(datetime(2026, 1, 1)) == timedelta(hours=offset)


NAMES = st.sampled_from(["AAA", "Longname", "<+03>", "<-3x>"])
SIGNS = st.sampled_from(["", "+", "-"])
REST = st.sampled_from(["", ":30", ":5", ":05:09"])
OFFSETS = st.tuples(SIGNS, st.integers(0, 14).map(str), REST).map("".join)
DAYS = st.one_of(
    st.builds("M{}.{}.{}".format, st.integers(1, 12), st.integers(1, 5), st.integers(0, 6)),
    st.integers(1, 365).map("J{}".format),
    st.integers(0, 365).map(str),
)
TIMES = st.one_of(st.just(""), st.builds("/{}{}{}".format, SIGNS, st.integers(0, 24) | st.integers(0, 167), REST))
RULES = st.builds(",{}{}".format, DAYS, TIMES)
TEXTS = st.one_of(
    st.builds("{}{}".format, NAMES, OFFSETS),
    st.builds("{}{}{}{}{}{}".format, NAMES, OFFSETS, NAMES, st.just("") | OFFSETS, RULES, st.just("") | RULES),
)

ASK = """
import os, sys, time
for text in sys.stdin.read().split():
    os.environ["TZ"] = text
    time.tzset()
    print(*(time.localtime(moment).tm_gmtoff for moment in range(*map(int, sys.argv[1:]))))
"""


def c_library(texts: list[str]) -> list[list[int]]:
    """Asked in a process of its own, whose zone may change; no zone files, so that its own default rules hold."""
    command = [sys.executable, "-c", ASK, *map(str, (MOMENTS.start, MOMENTS.stop, MOMENTS.step))]
    environment = {**os.environ, "TZDIR": "/nonexistent"}
    done = subprocess.run(command, input="\n".join(texts), env=environment, capture_output=True, text=True, check=True)
    return [[int(offset) for offset in line.split()] for line in done.stdout.splitlines()]


def ours(text: str) -> list[int]:
    zone = zone_named(text)
    offsets = (datetime.fromtimestamp(moment, zone).utcoffset() for moment in MOMENTS)
    return [int(offset.total_seconds()) for offset in offsets if offset is not None]


@settings(max_examples=4, deadline=None)
@given(st.lists(TEXTS, min_size=12, max_size=12))
def test_posix_rules_are_those_of_the_c_library(texts: list[str]) -> None:
    assert [ours(text) for text in texts] == c_library(texts)


def test_summer_time_without_rules_follows_those_of_the_united_states() -> None:
    texts = ["CET-1CEST", "AAA3BBB", "AAA11BBB-4:30", "EST5EDT4", "AAA3BBB,"]
    assert [ours(text) for text in texts] == c_library(texts)


def test_what_is_no_zone_is_none_for_the_c_library_too() -> None:
    texts = ["XXX", "XX+3", "<+0>-3", "A1B2", "XXX-"]
    assert [ours(text) for text in texts] == c_library(texts)


def test_local_times_around_both_changes_are_those_of_the_zone_database() -> None:
    posix, named = zone_named("CET-1CEST,M3.5.0,M10.5.0/3"), ZoneInfo("Europe/Berlin")
    for begin in (datetime(2026, 3, 29), datetime(2026, 10, 25)):
        for minute in range(0, 300, 10):
            for fold in (0, 1):
                wall = (begin + timedelta(minutes=minute)).replace(fold=fold)
                assert wall.replace(tzinfo=posix).utcoffset() == wall.replace(tzinfo=named).utcoffset()
                assert wall.replace(tzinfo=posix).dst() == wall.replace(tzinfo=named).dst()
            moment = (begin + timedelta(minutes=minute)).replace(tzinfo=UTC)
            local, wanted = moment.astimezone(posix), moment.astimezone(named)
            assert (local.replace(tzinfo=None), local.fold) == (wanted.replace(tzinfo=None), wanted.fold)
    assert posix.tzname(datetime(2026, 7, 1)) == "UTC+02:00"


@pytest.mark.parametrize("rules", ["365/167,0/-167", "J1/-167,M12.5.6/167"])
def test_the_ends_of_the_calendar_are_in_reach(rules: str) -> None:
    zone = zone_named(f"AAA3BBB,{rules}")
    for moment in (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, tzinfo=UTC)):
        assert moment.astimezone(zone).utcoffset() == timedelta(hours=-3)
