"""Random crontabs (names, ranges, steps, nicknames, quotes, odd blanks, NUL, CR, lost ends) through each real loader."""

from typing import Any

import cron_truth as truth
import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Entry, Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import AtReboot, Calendar
from cron2queue.text import to_bytes

# The users of the machine on which the answers were recorded, as far as the inputs name them.
USERS = frozenset({"root", "www-data", "nobody", "daemon"})
FILES: list[dict[str, Any]] = truth.load("random-files")


def read(case: dict[str, Any], dialect: str) -> CrontabFile:
    kind = Kind(case["crontab"])
    user = "root" if kind is Kind.USER else None
    data = case["input"].encode("latin-1")
    return parse(data, path="x", dialect=dialect_named(dialect), kind=kind, user=user, users=USERS)


def sets_of(entry: Entry, dialect: str) -> Any:
    """The bits as that daemon holds them."""
    schedule = entry.schedule
    if isinstance(schedule, AtReboot):
        return "reboot"
    assert isinstance(schedule, Calendar)
    if dialect != "busybox":
        return [schedule.minutes, schedule.hours, schedule.days, schedule.months, schedule.weekdays]
    days, weekdays = schedule.days, schedule.weekdays & 0x7F
    if schedule.day_star != schedule.weekday_star:  # BusyBox empties the field that leaves the day to the other
        days, weekdays = (0, weekdays) if schedule.day_star else (days, 0)
    return [schedule.minutes, schedule.hours, days, schedule.months >> 1, weekdays]


def shown(entry: Entry, dialect: str) -> str:
    return to_bytes(entry.command if dialect == "busybox" else entry.command_text).decode("latin-1")


@pytest.mark.parametrize("dialect", ["debian", "cronie", "busybox"])
def test_each_file_is_read_as_the_daemon_reads_it(dialect: str) -> None:
    checked = 0
    for case in FILES:
        recorded = case["dialects"].get(dialect)
        if recorded is None:
            continue
        file = read(case, dialect)
        assert file.loaded == recorded["loaded"], case
        found = [
            [sets_of(entry, dialect), entry.user if dialect != "busybox" else None, shown(entry, dialect)]
            for entry in file.entries
            if file.loaded
        ]
        assert found == recorded["entries"], case
        checked += 1
    assert checked > 500
