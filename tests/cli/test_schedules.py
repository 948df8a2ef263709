"""Ticks that did not come: told, and caught up as each entry's plan wants it."""

import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from command_line import Ran, run
from databases import Database

from cron2queue.cli.schedules import MOST_COUNTED, due_after
from cron2queue.runtime.database.instants import to_micros
from cron2queue.runtime.settings import JobSettings

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def plan(folder: Path, jobs: str) -> str:
    path = folder / "cron2queue.toml"
    path.write_text('format-version = 1\n[project]\ntimezone = "UTC"\n' + jobs)
    return str(path)


def entry(name: str, *, missed: str, schedule: str = "*/5 * * * *", scope: str = "database", more: str = "") -> str:
    return f'[jobs.{name}]\nschedule = "{schedule}"\ncommand = "true"\nmissed = "{missed}"\nscope = "{scope}"\n{more}'


def ticked(database: Database, name: str, ago: timedelta) -> None:
    """The last tick that came, so long ago, on a full five minutes."""
    now = datetime.fromtimestamp(database.value("SELECT {now}") / 1e6, UTC)
    last = (now - ago).replace(second=0, microsecond=0)
    last -= timedelta(minutes=last.minute % 5)
    database.change("INSERT INTO {ticks} (entry, last_nominal) VALUES (?, ?)", (name.encode(), to_micros(last)))


def catch_up(database: Database, path: str) -> Ran:
    return run("jobs", "catch-up", "--plan", path, "--database", database.url, "--format", "json")


def scheduled(text: str, zone: str | None = None) -> JobSettings:
    return JobSettings(name="often", kind="often", schedule=text, zone=zone)


def test_what_was_due_is_counted_as_the_daemon_counts() -> None:
    found = list(due_after(scheduled("*/15 * * * *"), NOON - timedelta(hours=1), NOON, BERLIN))
    assert [f"{each:%H:%M}" for each in found] == ["11:15", "11:30", "11:45"]
    spring = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
    nights = list(due_after(scheduled("30 2 * * *"), spring, spring + timedelta(days=2), BERLIN))
    assert [f"{each:%d %H:%M}" for each in nights] == ["29 01:00", "30 00:30"]
    for text in ("@reboot", "61 * * * *", "", "\x00", "\udcff * * * *", "0 0 31 2 *"):
        assert list(due_after(scheduled(text), NOON, NOON + timedelta(days=2), BERLIN)) == []


def test_a_schedule_in_a_zone_of_its_own_is_due_by_that() -> None:
    found = list(due_after(scheduled("30 7 * * *", "America/New_York"), NOON, NOON + timedelta(days=1), BERLIN))
    assert [f"{each:%d %H:%M}" for each in found] == ["30 12:30"]


@pytest.mark.parametrize(("policy", "jobs"), [("skip", 0), ("once", 1), ("all", 10)])
def test_each_policy_catches_up_in_its_way(database: Database, tmp_path: Path, policy: str, jobs: int) -> None:
    path = plan(tmp_path, entry("often", missed=policy))
    ticked(database, "often", timedelta(hours=2))
    (done,) = catch_up(database, path).json["entries"]
    assert (done["entry"], done["policy"], len(done["jobs"])) == ("often", policy, jobs) and 22 <= done["missed"] <= 25
    again = catch_up(database, path).json["entries"]
    assert sum(len(each["jobs"]) for each in again) <= 1  # a tick may have come due meanwhile
    assert database.value("SELECT COUNT(*) FROM {jobs}") - jobs <= 1


def test_jobs_of_all_missed_ticks_run_one_after_another_the_oldest_first(database: Database, tmp_path: Path) -> None:
    path = plan(tmp_path, entry("often", missed="all", more="missed-limit = 3\n"))
    ticked(database, "often", timedelta(hours=1))
    catch_up(database, path)
    rows = database.rows("SELECT job_key, state FROM {jobs} ORDER BY id")
    keys = [bytes(key).decode() for key, _ in rows]
    assert keys == sorted(keys) and len(keys) >= 3
    assert [state for _, state in rows][:3] == ["ready", "blocked", "blocked"]


@pytest.mark.parametrize(("policy", "jobs"), [("once", 1), ("all", 10)])
def test_after_a_long_time_the_newest_ticks_count(sqlite_database: Database, tmp_path: Path, policy: str, jobs: int) -> None:
    path = plan(tmp_path, entry("often", missed=policy))
    ticked(sqlite_database, "often", timedelta(days=MOST_COUNTED // 288 + 10))
    (done,) = catch_up(sqlite_database, path).json["entries"]
    assert len(done["jobs"]) == jobs and done["missed"] > MOST_COUNTED
    last = sqlite_database.value("SELECT last_nominal FROM {ticks}")
    assert sqlite_database.value("SELECT {now}") - last < 600_000_000


def test_an_entry_that_never_ticked_has_missed_nothing(sqlite_database: Database, tmp_path: Path) -> None:
    path = plan(tmp_path, entry("often", missed="all"))
    assert catch_up(sqlite_database, path).json["entries"] == []
    assert run("jobs", "catch-up", "--plan", path, "--database", sqlite_database.url).out == "nothing was missed\n"


def test_two_hosts_with_one_crontab_make_one_job(database: Database, tmp_path: Path) -> None:
    """A scope of the whole database: the name and the nominal time are the key, wherever it is enqueued."""
    path = plan(tmp_path, entry("often", missed="once"))
    ticked(database, "often", timedelta(hours=1))
    first, second = (run("jobs", "catch-up", "--plan", path, "--database", database.url) for _ in range(2))
    assert "1 job enqueued" in first.out and first.status == second.status == 0
    assert database.value("SELECT COUNT(DISTINCT job_key) FROM {jobs}") == database.value("SELECT COUNT(*) FROM {jobs}")


def test_who_catches_up_at_the_same_time_counts_the_jobs_of_another_as_such(database: Database, tmp_path: Path) -> None:
    path = plan(tmp_path, entry("often", missed="all", schedule="0 0 * * *", more="missed-limit = 3\n"))
    ticked(database, "often", timedelta(days=5))
    before = database.value("SELECT last_nominal FROM {ticks}")
    (first,) = catch_up(database, path).json["entries"]
    database.change("UPDATE {ticks} SET last_nominal = ?", (before,))  # as one sees it that has looked at the same time
    again = run("jobs", "catch-up", "--plan", path, "--database", database.url).out
    assert len(first["jobs"]) == database.value("SELECT COUNT(*) FROM {jobs}") == 3
    assert "none enqueued, 3 by another" in again


def test_each_host_is_missed_for_itself_where_each_has_its_own(sqlite_database: Database, tmp_path: Path) -> None:
    path = plan(tmp_path, entry("often", missed="skip", scope="host"))
    here = socket.gethostname()
    ticked(sqlite_database, f"often@{here}", timedelta(0))
    ticked(sqlite_database, "often@web2", timedelta(hours=1))
    ticked(sqlite_database, "often@retired", timedelta(days=30))
    record = run("status", "--plan", path, "--database", sqlite_database.url, "--format", "json").json
    assert [each["entry"] for each in record["missed_ticks"]] == ["often@web2"]


def test_an_unknown_zone_is_told(sqlite_database: Database, tmp_path: Path) -> None:
    path = plan(tmp_path, entry("often", missed="once"))
    Path(path).write_text(Path(path).read_text().replace("UTC", "Mars/Olympus"))
    ran = run("status", "--plan", path, "--database", sqlite_database.url)
    line = next(at for at, each in enumerate(Path(path).read_text().splitlines(), start=1) if "Mars/Olympus" in each)
    assert ran.status == 2 and f"{path}:{line}: project.timezone: there is no time zone 'Mars/Olympus'" in ran.err


def test_without_a_plan_there_is_nothing_to_catch_up_by(sqlite_database: Database, tmp_path: Path) -> None:
    ran = run("jobs", "catch-up", "--database", sqlite_database.url, cwd=tmp_path)
    assert ran.status == 2 and "there is no plan" in ran.err
