"""Each recorded expression, for each daemon: accepted or not, its sets, its fires in a year and at clock changes."""

import functools
from collections.abc import Iterable
from datetime import date
from typing import Any

import cron_truth as truth
import pytest

from cron2queue.crontab.lines import Entry
from cron2queue.crontab.schedule import AtReboot, Calendar, Interval

FIELDS = {"minute": "minutes", "hour": "hours", "dom": "days", "month": "months", "dow": "weekdays"}
# Where the recorder stopped looking; it wrote its last minute down as if it were a fire.
RECORDER_HORIZON = "2056-04-05T06:29"


CHUNK = 60


def chunks(names: Iterable[str]) -> list[Any]:
    """A test for each name and each sixty expressions: one for each would cost more than what it does."""
    vectors = truth.vectors()
    return [
        pytest.param(vectors[begin : begin + CHUNK], name, id=f"{name}-{vectors[begin]['id']}")
        for begin in range(0, len(vectors), CHUNK)
        for name in names
    ]


def entries_of(vector: dict[str, Any], dialect: str) -> tuple[Entry, ...]:
    return truth.read_line(vector["expr"], dialect).entries


def expected_command(vector: dict[str, Any], facts: dict[str, Any]) -> str:
    again = facts.get("rest_of_line_reparsed_as")
    return again["command"] if again else facts.get("command_becomes", truth.COMMAND)


@pytest.mark.parametrize(("vectors", "dialect"), chunks(truth.MEASURED))
def test_a_line_is_taken_or_refused_as_the_daemon_does(vectors: list[dict[str, Any]], dialect: str) -> None:
    for vector in vectors:
        check_line(vector, dialect)


def check_line(vector: dict[str, Any], dialect: str) -> None:
    facts = truth.answer(vector["dialects"], dialect)
    file = truth.read_line(vector["expr"], dialect)
    runs = facts["accepted"] or "rest_of_line_reparsed_as" in facts
    assert bool(file.entries) == bool(runs)
    assert file.to_bytes() == f"{vector['expr']} {truth.COMMAND}\n".encode()
    if not facts["accepted"] and facts.get("error"):
        assert facts["error"] in {malformed.message for malformed in file.malformed}
    if "treated_as_env" in facts:
        assert file.assignments
    if runs and not facts.get("random"):
        assert file.entries[-1].command == expected_command(vector, facts)
    for message in facts.get("messages", ()):
        said = [each.message for each in file.malformed] + list(file.notes)
        wanted = message.removeprefix("user root: ").encode("latin-1").decode("utf-8", "surrogateescape")
        assert any(wanted in each for each in said), (wanted, said)


@pytest.mark.parametrize(("vectors", "dialect"), chunks(truth.MEASURED))
def test_a_schedule_fires_in_the_year_as_the_daemon_does(vectors: list[dict[str, Any]], dialect: str) -> None:
    for vector in vectors:
        check_schedule(vector, dialect)


def check_schedule(vector: dict[str, Any], dialect: str) -> None:
    facts = truth.answer(vector["dialects"], dialect)
    entries = entries_of(vector, dialect)
    if not entries:
        assert not facts["accepted"]
        return
    schedule = entries[-1].schedule
    if facts.get("reboot"):
        assert isinstance(schedule, AtReboot)
    elif "interval_seconds" in facts:
        assert schedule == Interval(seconds=facts["interval_seconds"])
    elif facts.get("random"):
        check_random(schedule, facts)
    else:
        check_year(schedule, facts, dialect)


def check_random(schedule: object, facts: dict[str, Any]) -> None:
    assert isinstance(schedule, Calendar)
    for place, (field, attribute) in enumerate(FIELDS.items()):
        seen = truth.values(facts["fields_possible"][field])
        possible = schedule.possible[place] if schedule.possible else getattr(schedule, attribute)
        assert seen & ~possible == 0
        assert getattr(schedule, attribute) & ~possible == 0


def check_year(schedule: object, facts: dict[str, Any], dialect: str) -> None:
    assert isinstance(schedule, Calendar)
    assert not schedule.random
    for field, attribute in FIELDS.items():
        if "fields" in facts and not (dialect == "busybox" and is_cleared(schedule, field)):
            assert getattr(schedule, attribute) == truth.values(facts["fields"][field]), field
    if "flags" in facts:
        check_flags(schedule, facts["flags"], dialect)
    assert truth.year_of(schedule, 2026) == (facts["count_2026"], facts["sha256_2026"])
    leap_year = schedule.day_bits(date(2028, 1, 1), 366).bit_count() * schedule.minute_bits.bit_count()
    assert leap_year == facts["count_2028"]
    assert schedule.never_fires == bool(facts.get("never_fires"))
    zone = truth.ZoneInfo("UTC")
    first = schedule.next_fires(truth.datetime(2026, 1, 1, tzinfo=truth.UTC), zone, len(facts["first"]))
    recorded = [text for text in facts["first"] if text != RECORDER_HORIZON]
    assert [fire.nominal.isoformat(timespec="minutes") for fire in first][: len(recorded)] == recorded


def is_cleared(schedule: Calendar, field: str) -> bool:
    """BusyBox empties the day field that names every day when the other one does not."""
    if schedule.day_star == schedule.weekday_star:
        return False
    return field == ("dom" if schedule.day_star else "dow")


def check_flags(schedule: Calendar, flags: list[str], dialect: str) -> None:
    both_day_fields = bool({"dom_star", "dow_star"} & set(flags))
    every_day = schedule.days == 0xFFFFFFFE and schedule.weekdays == 0xFF
    assert every_day or schedule.either_day != both_day_fields
    if dialect != "freebsd":  # which has no such rule
        assert schedule.wildcard == bool({"min_star", "hr_star"} & set(flags))


@functools.lru_cache(maxsize=1 << 16)
def clock_change(schedule: Calendar, name: str) -> tuple[int, str]:
    begin, end, zone = truth.window(name)
    fires = [truth.fire_text(fire) for fire in schedule.fires_between(begin, end, zone)]
    return len(fires), truth.digest(fires)


@pytest.mark.parametrize(("vectors", "name"), chunks(truth.windows()))
def test_a_schedule_fires_at_a_clock_change_as_each_daemon_does(vectors: list[dict[str, Any]], name: str) -> None:
    everywhere = truth.windows()[name]["applies_to"] == "all vectors"
    for vector in vectors:
        for dialect in truth.MEASURED:
            entries = entries_of(vector, dialect)
            schedule = entries[-1].schedule if entries else None
            drawn = truth.answer(vector["dialects"], dialect).get("random")
            if isinstance(schedule, Calendar) and not drawn and (everywhere or "dst" in vector["tags"]):
                nothing = {"count": 0, "sha256": truth.digest(())}
                facts = truth.answer(vector.get("dst", {}).get(name, {}), dialect) or nothing
                found = clock_change(schedule, name)
                assert found == (facts["count"], facts["sha256"]), (dialect, vector["expr"])
