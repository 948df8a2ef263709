"""systemd-cron: what its generator wrote for each line, recorded from the program itself, and its rules at clock changes."""

import json
import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import cron_truth as truth
import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Effect, Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import AtReboot, Calendar

DIALECT = dialect_named("systemd-cron")
RECORDED: list[dict[str, Any]] = json.loads((truth.DATA / "systemd-cron.json").read_text())["lines"]
WEEKDAY, SUNDAYS = 4, 0x81
WEEKDAYS = {"Sun": SUNDAYS, "Mon": 2, "Tue": 4, "Wed": 8, "Thu": 16, "Fri": 32, "Sat": 64}
NAMED = {
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "daily": "*-*-* 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "quarterly": "*-01,04,07,10-01 00:00:00",
}
CALENDAR = re.compile(r"(?:([A-Z][\w,]*) )?\*-([^-~ ]+)([-~])(\S+) ([^:]+):([^:]+):0+\Z")


def read(text: str, kind: Kind = Kind.SYSTEM) -> CrontabFile:
    return parse(text.encode(), path="x", dialect=DIALECT, kind=kind, user="me" if kind is Kind.USER else None)


def bits(text: str, low: int, high: int) -> int:
    if text == "*":
        return (1 << high + 1) - (1 << low)
    found = 0
    for part in text.split(","):
        first, _, step = part.partition("/")
        found |= sum(1 << value for value in range(int(first), high + 1 if step else int(first) + 1, int(step or 1)))
    return found


def expected(text: str) -> tuple[int, int, int, int, int, bool]:
    """Minutes, hours, days, months, weekdays of an OnCalendar expression, and whether days count from the month's end."""
    match = CALENDAR.match(NAMED.get(text, text))
    assert match, text
    weekdays = sum(WEEKDAYS[day] for day in match[1].split(",")) if match[1] else 0xFF
    from_end = match[3] == "~"
    days = 0xFE if match[4] == "7/1" else bits(match[4], 1, 31)
    return bits(match[6], 0, 59), bits(match[5], 0, 23), days, bits(match[2], 1, 12), weekdays, from_end


@pytest.mark.parametrize("recorded", RECORDED, ids=[each["line"] for each in RECORDED])
def test_a_line_becomes_the_timer_that_the_generator_wrote(recorded: dict[str, Any]) -> None:
    file = read(recorded["line"] + "\n")
    if "error" in recorded:
        assert [bad.message for bad in file.malformed] == [recorded["error"]]
        assert file.malformed[0].effect is Effect.LINE
        assert file.loaded
        return
    schedule = file.entries[0].schedule
    if "boot" in recorded:
        assert isinstance(schedule, AtReboot)
        return
    assert isinstance(schedule, Calendar)
    minutes, *rest = expected(recorded["calendar"])
    found = [schedule.hours, schedule.days, schedule.months, schedule.weekdays, schedule.days_from_end]
    assert found == rest
    drawn_from = schedule.possible[0] if schedule.possible else schedule.minutes
    assert drawn_from & minutes == minutes


@pytest.mark.parametrize(
    ("field", "place", "drawn"),
    [
        ("10x~12", 0, range(10, 14)), ("x~5", 0, range(7)), ("50x~", 0, range(50, 60)), ("~x", 0, range(2)),
        ("58x~59", 0, range(58, 60)), ("1-5~50", 0, range(1, 52)), ("0x5~8", 0, range(10)), ("5x~6", 1, range(5, 8)),
        ("+5~8", 0, range(5, 10)), ("5~99999999999", 0, range(5, 60)), ("jan~mar", 3, range(1, 5)),
        ("31~-5", 2, range(31, 32)), ("jun~dec", 3, range(6, 13)), ("jan~12", 3, range(1, 2)), ("1~3x", 3, range(1, 2)),
        ("monx~fri", 4, range(1, 7)), ("mo~fri", 4, range(7)), ("x~2", 4, range(4)), ("fri~sun", 4, range(5, 8)),
    ],
)  # fmt: skip
def test_an_end_of_a_random_range_is_what_its_word_begins_with(field: str, place: int, drawn: range) -> None:
    fields = ["0", "0", "1", "1", "*"]
    fields[place] = field
    schedule = read(" ".join(fields) + " root x\n").entries[0].schedule
    assert isinstance(schedule, Calendar)
    one_only = (schedule.minutes, schedule.hours, schedule.days, schedule.months, schedule.weekdays)
    values = sum(1 << value for value in drawn)
    wanted = values | SUNDAYS if place == WEEKDAY and values & SUNDAYS else values
    assert (schedule.possible or one_only)[place] == wanted


@pytest.mark.parametrize(
    "line",
    [
        "5~x * * * * root a", "5~-2 * * * * root a", "-5~7 * * * * root a", "-~7 * * * * root a", "0 0 3~x * * root a",
        "0 0 1 x~5 * root a",
        "0 0 1 jun~12 * root a", "0 0 1 ~3x * root a",
    ],
)  # fmt: skip
def test_a_random_range_that_ends_before_it_begins_is_refused(line: str) -> None:
    assert "may be *" in read(line + "\n").malformed[0].message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("61 25 40 13 9 root x", "field minute=61 (61), may be * or [0, 59]"),
        ("0 0 1 13 9 root x", "field dow=9 (9), may be * or [mon, sun] or [1, 7] or [1, 7]L"),
        ("61,*/0 * * * * root x", "field minute=61,*/0 (61), may be * or [0, 59]"),
    ],
)
def test_the_first_complaint_of_the_generator_is_told(line: str, message: str) -> None:
    file = read(line + "\n")
    assert [(bad.message, bad.effect) for bad in file.malformed] == [(message, Effect.LINE)]
    assert file.loaded


@pytest.mark.parametrize(
    "line",
    [
        "*/0 * * * * root x", "5/0 * * * * root x", "0 0 * * 1-5/0 root x", "61 */0 * * * root x", "61 * */0 * * root x",
        "61 5/x * */0 * root x", "1//2 * * * */0 root x", "*/0 61 * * * root x", "5~3 */0 * * * root x", "0 0 40 1/0 9 root x",
    ],
)  # fmt: skip
def test_a_step_of_zero_keeps_the_generator_from_ever_ending(line: str) -> None:
    file = read(f"0 1 * * * root fine\n{line}\n")
    assert not file.loaded
    assert file.why is not None
    assert "a step of 0" in file.why
    assert file.malformed[0].effect is Effect.FILE


def test_the_command_is_put_together_with_single_blanks_and_the_percent_part_is_its_input() -> None:
    entry = read("* * * * * root  echo   1%2%3\\%4 \t\r\n").entries[0]
    assert (entry.command, entry.stdin, entry.user) == ("echo 1", "2\n3%4", "root")


@pytest.mark.parametrize(
    ("written", "command", "stdin"),
    [  # what release 2.8.2 wrote
        ("a \\%b", "a %b", None),
        ("a \\\\%b", "a \\%b", None),
        ("a \\\\\\%b", "a \\\\%b", None),
        ("a %% b  c", "a", "\n b  c"),
        ("a  x% -n  -n", "a x", " -n  -n"),
        ("a \\n\\% c%d\\%e\\\\%f", "a \\n% c", "d%e\\%f"),
        ("%a", "", "a"),
    ],
)
def test_a_backslash_right_before_a_percent_escapes_it_and_the_input_stays_as_it_is_written(
    written: str, command: str, stdin: str | None
) -> None:
    entry = read(f"* * * * * root {written}\n").entries[0]
    assert (entry.command, entry.stdin) == (command, stdin)


def test_a_number_and_a_user_end_at_a_nul() -> None:
    entry = read("5\0x */10\0 * * * ro\0ot a\0b c\n").entries[0]
    assert isinstance(entry.schedule, Calendar)
    assert (entry.schedule.minutes, entry.schedule.hours) == (1 << 5, 1 | 1 << 10 | 1 << 20)
    assert (entry.user, entry.command) == ("ro", "a\0b c")


def test_a_too_short_line_is_told_as_the_generator_tells_it() -> None:
    file = read("* * * * *\n", Kind.USER)
    assert file.malformed[0].message == "have 5 fields, need ≥6 (minute hour day dow month program)"


def test_quotes_and_blanks_around_a_value_are_stripped() -> None:
    file = read("A = 'x y' \nB=\nC=\"it's\"\n* * * * * root z\n")
    assert [(each.name, each.value) for each in file.assignments] == [("A", "x y"), ("B", ""), ("C", "it's")]
    assert file.entries[0].environment["A"] == "x y"


def at(text: str, zone: ZoneInfo) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("expression", "begin", "end", "starts"),
    [  # what `systemd-analyze calendar` of systemd 259 says
        ("30 2 * * *", "2026-03-29", "2026-03-31", ["2026-03-30T02:30+02:00"]),
        ("30 2 * * *", "2026-10-25", "2026-10-26", ["2026-10-25T02:30+02:00"]),
        (
            "30 * * * *",
            "2026-10-25T01:10",
            "2026-10-25T05:00",
            ["2026-10-25T01:30+02:00", "2026-10-25T02:30+02:00", "2026-10-25T03:30+01:00", "2026-10-25T04:30+01:00"],
        ),
        ("30 * * * *", "2026-03-29T01:10", "2026-03-29T04:00", ["2026-03-29T01:30+01:00", "2026-03-29T03:30+02:00"]),
        ("0 1,2,3 * * *", "2026-03-29", "2026-03-30", ["2026-03-29T01:00+01:00", "2026-03-29T03:00+02:00"]),
    ],
)
def test_a_missing_hour_is_skipped_and_a_repeated_one_elapses_once(
    expression: str, begin: str, end: str, starts: list[str]
) -> None:
    zone = ZoneInfo("Europe/Berlin")
    schedule = read(f"{expression} root x\n").entries[0].schedule
    fires = schedule.fires_between(at(begin, zone), at(end, zone), zone)
    assert [fire.at.isoformat(timespec="minutes") for fire in fires] == starts


def test_the_last_day_of_each_month_is_found_in_leap_years_too() -> None:
    schedule = read("0 0 L * * root x\n").entries[0].schedule
    fires = schedule.next_fires(datetime(2028, 1, 1, tzinfo=truth.UTC), ZoneInfo("UTC"), 4)
    assert [f"{fire.nominal:%m-%d}" for fire in fires] == ["01-31", "02-29", "03-31", "04-30"]


def test_both_zone_variables_set_the_zone() -> None:
    assert read("TZ=Asia/Tokyo\n* * * * * root x\n").zone == "Asia/Tokyo"
    assert read("CRON_TZ=:Asia/Tokyo\n* * * * * root x\n").zone == "Asia/Tokyo"
