"""OnCalendar lines against systemd itself, and the proof that they start jobs when cron does."""

import random
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import Calendar
from cron2queue.generator.fidelity import SPAN, differences
from cron2queue.generator.oncalendar import fires_of, in_utc, in_zone, names_every_hour

needs_systemd = pytest.mark.needs("systemd-analyze")
BERLIN = ZoneInfo("Europe/Berlin")


def calendar(text: str) -> Calendar:
    file = parse(f"{text} true\n".encode(), path="x", dialect=dialect_named("debian"), kind=Kind.USER)
    schedule = file.entries[0].schedule
    assert isinstance(schedule, Calendar)
    return schedule


def systemd_says(line: str, base: datetime, count: int) -> list[datetime]:
    """The next elapses by systemd's own reckoning, in UTC."""
    ran = subprocess.run(
        ["systemd-analyze", "calendar", f"--iterations={count}", f"--base-time={base.strftime('%Y-%m-%d %H:%M:%S')}", line],
        env={"TZ": "UTC", "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, (line, ran.stderr)
    found = [each.split(": ", 1)[1] for each in ran.stdout.splitlines() if "Next elapse" in each or "Iter. #" in each]
    return [datetime.strptime(each, "%a %Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC) for each in found if each != "never"]


def test_a_line_says_what_the_fields_say() -> None:
    assert [line.text for line in in_zone(calendar("0 3 1,15 * 5"), "Europe/Berlin")] == [
        "*-*-01,15 03:00:00 Europe/Berlin",
        "Fri *-*-* 03:00:00 Europe/Berlin",
    ]
    assert [line.text for line in in_zone(calendar("*/15 8-17 * 3,4 1-5"), "UTC")] == [
        "Mon,Tue,Wed,Thu,Fri *-03,04-* 08..17:00/15:00 UTC"
    ]
    assert [line.text for line in in_zone(calendar("5 4 * * 7"), "UTC")] == ["Sun *-*-* 04:05:00 UTC"]


def expressions(number: int) -> list[str]:
    chance = random.Random(7)
    fields = (
        ("*", "*/5", "*/7", "0", "59", "3,17,18,19,44", "10-20/3"),
        ("*", "*/2", "3", "22", "8-17", "0,12"),
        ("*", "1", "31", "1,15", "*/2", "10-12", "29"),
        ("*", "*", "2", "1-3,11", "*/4"),
        ("*", "*", "7", "0", "1-5", "5", "*/2"),
    )
    return [" ".join(chance.choice(options) for options in fields) for _ in range(number)]


@needs_systemd
def test_our_reading_of_a_line_is_systemds(subtests: pytest.Subtests) -> None:
    base = datetime(2027, 1, 30, 21, 58, 30, tzinfo=UTC)
    for text in expressions(25):
        for line in in_zone(calendar(text), "Europe/Berlin"):
            with subtests.test(text=text, line=line.text):
                ours = fires_of([line], base, base + timedelta(days=11000), BERLIN)
                theirs = systemd_says(line.text, base, 6)
                assert [fire.at.astimezone(UTC) for fire in islice(ours, len(theirs))] == theirs


@needs_systemd
@pytest.mark.parametrize("day", ["2027-03-27 22:00", "2027-10-30 22:00"])
@pytest.mark.parametrize("text", ["30 2 * * *", "*/20 * * * *", "0 1,2,3 * * *", "0 3 * * *", "*/15 2 * * *"])
def test_our_reading_of_clock_changes_is_systemds(day: str, text: str) -> None:
    base = datetime.fromisoformat(day).replace(tzinfo=UTC)
    lines = in_zone(calendar(text), "Europe/Berlin")
    ours = fires_of(lines, base + timedelta(seconds=1), base + timedelta(days=30), BERLIN)
    theirs = systemd_says(lines[0].text, base, 12)
    assert [fire.at.astimezone(UTC) for fire in islice(ours, len(theirs))] == theirs


def proved(text: str, zone: ZoneInfo) -> list[object]:
    schedule, start = calendar(text), datetime(2026, 11, 30, tzinfo=UTC)
    offset = int((start.astimezone(zone).utcoffset() or timedelta()).total_seconds() // 60)
    lines = in_utc(schedule, offset) if names_every_hour(schedule) else in_zone(schedule, zone.key)
    end = start + SPAN
    return list(differences(schedule.fires_between(start, end, zone), fires_of(lines, start, end, zone)))


@pytest.mark.parametrize(
    "text", ["*/5 * * * *", "17 * * * *", "0 3 1,15 * 5", "0 0 */2 * 1", "30 4 * * 7", "0 9-17 * * 1-5", "0 0 29 2 *"]
)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "America/New_York", "Asia/Kolkata"])
def test_schedules_outside_of_clock_changes_start_alike(text: str, zone: str) -> None:
    assert proved(text, ZoneInfo(zone)) == []


@pytest.mark.parametrize("text", ["30 2 * * *", "*/15 2 * * *", "0 1,2,3 * * *"])
def test_schedules_in_the_hour_of_a_clock_change_are_found_out(text: str) -> None:
    found = proved(text, BERLIN)
    assert found
    assert "2027-03-28" in str(found[0]) or "2027-10-31" in str(found[0])


def test_a_missing_and_an_added_start_are_both_shown() -> None:
    start, end = datetime(2026, 12, 1, tzinfo=UTC), datetime(2026, 12, 3, tzinfo=UTC)
    zone = ZoneInfo("UTC")
    one = calendar("0 1 * * *").fires_between(start, end, zone)
    other = calendar("0 2 * * *").fires_between(start, end, zone)
    shown = [str(each) for each in differences(one, other)]
    assert shown == [
        "2026-12-01T01:00+00:00: cron starts it, the target does not",
        "2026-12-01T02:00+00:00: the target starts it, cron does not",
        "2026-12-02T01:00+00:00: cron starts it, the target does not",
    ]


def test_starts_are_compared_by_real_time_in_a_repeated_hour() -> None:
    start = datetime(2027, 10, 30, 22, tzinfo=UTC)
    end = start + timedelta(hours=6)
    half_hours = calendar("*/30 * * * *")
    assert len(list(half_hours.fires_between(start, end, BERLIN))) == 12
    found = differences(
        half_hours.fires_between(start, end, BERLIN), fires_of(in_zone(half_hours, BERLIN.key), start, end, BERLIN)
    )
    assert [each.at.astimezone(UTC).hour for each in found] == [1, 1]
