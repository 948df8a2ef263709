"""Each recorded expression, for each daemon: accepted or not, its sets, its fires in a year and at clock changes."""

from typing import Any

import cron_truth as truth
import pytest

from cron2queue.crontab.lines import Entry
from cron2queue.crontab.schedule import AtReboot, Calendar, Interval

FIELDS = {"minute": "minutes", "hour": "hours", "dom": "days", "month": "months", "dow": "weekdays"}
# Where the recorder stopped looking; it wrote its last minute down as if it were a fire.
RECORDER_HORIZON = "2056-04-05T06:29"


def cases() -> list[Any]:
    return [
        pytest.param(vector, dialect, id=f"{dialect}-{vector['id']}-{vector['expr']}")
        for vector in truth.vectors()
        for dialect in truth.MEASURED
    ]


def entries_of(vector: dict[str, Any], dialect: str) -> tuple[Entry, ...]:
    return truth.read_line(vector["expr"], dialect).entries


def expected_command(vector: dict[str, Any], facts: dict[str, Any]) -> str:
    again = facts.get("rest_of_line_reparsed_as")
    return again["command"] if again else facts.get("command_becomes", truth.COMMAND)


@pytest.mark.parametrize(("vector", "dialect"), cases())
def test_a_line_is_taken_or_refused_as_the_daemon_does(vector: dict[str, Any], dialect: str) -> None:
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


@pytest.mark.parametrize(("vector", "dialect"), cases())
def test_a_schedule_fires_in_the_year_as_the_daemon_does(vector: dict[str, Any], dialect: str) -> None:
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
        check_year(schedule, facts)


def check_random(schedule: object, facts: dict[str, Any]) -> None:
    assert isinstance(schedule, Calendar)
    for place, (field, attribute) in enumerate(FIELDS.items()):
        seen = truth.values(facts["fields_possible"][field])
        possible = schedule.possible[place] if schedule.possible else getattr(schedule, attribute)
        assert seen & ~possible == 0
        assert getattr(schedule, attribute) & ~possible == 0


def check_year(schedule: object, facts: dict[str, Any]) -> None:
    assert isinstance(schedule, Calendar)
    assert not schedule.random
    for field, attribute in FIELDS.items():
        if "fields" in facts:
            assert getattr(schedule, attribute) == truth.values(facts["fields"][field]), field
    if "flags" in facts:
        check_flags(schedule, facts["flags"])
    fires = truth.year_of(schedule, 2026)
    assert len(fires) == facts["count_2026"]
    assert truth.digest(fire.nominal.isoformat(timespec="minutes") for fire in fires) == facts["sha256_2026"]
    assert len(truth.year_of(schedule, 2028)) == facts["count_2028"]
    assert schedule.never_fires == bool(facts.get("never_fires"))
    zone = truth.ZoneInfo("UTC")
    first = schedule.next_fires(truth.datetime(2026, 1, 1, tzinfo=truth.UTC), zone, len(facts["first"]))
    recorded = [text for text in facts["first"] if text != RECORDER_HORIZON]
    assert [fire.nominal.isoformat(timespec="minutes") for fire in first][: len(recorded)] == recorded


def check_flags(schedule: Calendar, flags: list[str]) -> None:
    both_day_fields = bool({"dom_star", "dow_star"} & set(flags))
    every_day = schedule.days == 0xFFFFFFFE and schedule.weekdays == 0xFF
    assert every_day or schedule.either_day != both_day_fields
    assert schedule.wildcard == bool({"min_star", "hr_star"} & set(flags))


def clock_cases() -> list[Any]:
    return [
        pytest.param(vector, name, id=f"{name}-{vector['id']}-{vector['expr']}")
        for vector in truth.vectors()
        for name, facts in truth.windows().items()
        if facts["applies_to"] == "all vectors" or "dst" in vector["tags"]
    ]


@pytest.mark.parametrize(("vector", "name"), clock_cases())
def test_a_schedule_fires_at_a_clock_change_as_each_daemon_does(vector: dict[str, Any], name: str) -> None:
    begin, end, zone = truth.window(name)
    for dialect in truth.MEASURED:
        facts = truth.answer(vector["dialects"], dialect)
        recorded = truth.answer(vector.get("dst", {}).get(name, {}), dialect) or {"count": 0, "sha256": truth.digest(())}
        entries = entries_of(vector, dialect)
        if not entries or facts.get("random") or not isinstance(entries[-1].schedule, Calendar):
            continue
        fires = [truth.fire_text(fire) for fire in entries[-1].schedule.fires_between(begin, end, zone)]
        assert (dialect, len(fires)) == (dialect, recorded["count"]), (fires[:70], recorded)
        assert truth.digest(fires) == recorded["sha256"], (dialect, fires[:70], recorded)
