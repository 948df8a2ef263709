"""CRON_TZ: honoured by cronie alone, and there with its own gaps when the host's or the entry's clock changes."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import cron_truth as truth
import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse

CASES = truth.load("cronie-crontz-vectors")


def fires(case: dict[str, Any], dialect: str) -> list[str]:
    data = f"CRON_TZ={case['CRON_TZ']}\n{case['expr']} CMD\n".encode()
    file = parse(data, path="x", dialect=dialect_named(dialect), kind=Kind.USER, user="root")
    begin, end = (datetime.fromisoformat(case[f"window_{side}_utc"]) for side in ("start", "end"))
    found = file.entries[0].schedule.fires_between(begin, end, ZoneInfo(case["daemon_TZ"]))
    return [fire.at.astimezone(truth.UTC).strftime("%Y-%m-%dT%H:%MZ") for fire in found]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_an_entry_with_a_zone_of_its_own_fires_as_the_daemon_does(case: dict[str, Any]) -> None:
    for dialect, recorded in case["fires_utc"].items():
        found = fires(case, dialect)
        assert (dialect, {"count": len(found)} if isinstance(recorded, dict) else found) == (dialect, recorded)


def test_the_zone_in_force_is_told_for_the_file() -> None:
    file = parse(b"CRON_TZ=Asia/Tokyo\n* * * * * a\n", path="x", dialect=dialect_named("cronie"), kind=Kind.USER)
    assert file.zone == "Asia/Tokyo"
    other = parse(b"CRON_TZ=Asia/Tokyo\n* * * * * a\n", path="x", dialect=dialect_named("debian"), kind=Kind.USER)
    assert other.zone is None
