"""`migrate`, `enqueue` and `prune` on the command line, each run as a person would."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from databases import Database

from cron2queue.runtime.database.instants import from_micros
from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.store import Store
from cron2queue.runtime.verbs.ticking import Tick


def run(*arguments: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "cron2queue", *arguments]
    return subprocess.run(command, cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=60)


def test_tables_are_made_looked_at_and_taken_away(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    before = run("migrate", "status", "--database", url, folder=tmp_path)
    assert (before.returncode, "missing" in before.stdout) == (1, True), before.stderr
    assert run("migrate", "up", "--database", url, folder=tmp_path).stdout == "applied step 1\n"
    assert run("migrate", "up", "--database", url, folder=tmp_path).stdout == "nothing to do\n"
    assert run("migrate", "up", "-q", "--database", url, folder=tmp_path).stdout == ""
    after = run("migrate", "status", "--database", url, "--format", "json", folder=tmp_path)
    assert (after.returncode, json.loads(after.stdout)["steps"][0]["state"]) == (0, "applied")
    assert run("enqueue", "--kind", "k", "--database", url, folder=tmp_path).returncode == 0
    refused = run("migrate", "down", "--to", "0", "--database", url, folder=tmp_path)
    assert (refused.returncode, "holds jobs" in refused.stderr) == (4, True)
    assert run("migrate", "down", "--to", "0", "--force", "--database", url, folder=tmp_path).stdout == "took back step 1\n"


@pytest.mark.parametrize("family", ["sqlite", "mysql", "postgresql"])
def test_the_sql_can_be_had_without_a_database(tmp_path: Path, family: str) -> None:
    ran = run("migrate", "sql", "--for", family, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "CREATE TABLE IF NOT EXISTS c2q_jobs" in ran.stdout
    assert "INSERT INTO c2q_migrations" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_an_enqueue_without_tables_says_what_to_do(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    missing = run("enqueue", "--kind", "k", "--database", url, folder=tmp_path)
    assert (missing.returncode, "migrate up" in missing.stderr, list(tmp_path.iterdir())) == (69, True, [])
    (tmp_path / "jobs.db").touch()
    ran = run("enqueue", "--kind", "k", "--database", url, folder=tmp_path)
    assert ran.returncode == 4
    assert "migrate up" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_job_goes_in_once(sqlite_database: Database, tmp_path: Path) -> None:
    arguments = ("enqueue", "--kind", "mail", "--key", "k", "--payload", '{"a":1}', "--database", sqlite_database.url)
    first, second = run(*arguments, folder=tmp_path), run(*arguments, folder=tmp_path)
    assert first.stdout.strip() == sqlite_database.value("SELECT public_id FROM {jobs}")
    assert second.stdout == f"{first.stdout.strip()} duplicate\n"


PLAN = """
format-version = 1
[project]
name = "shop"
database = "{url}"
timezone = "UTC"
[jobs.every-minute]
kind = "mail"
schedule = "* * * * *"
command = "true"
scope = "database"
overlap = "queue"
missed = "{missed}"
missed-limit = 3
"""


def late(database: Database, folder: Path, missed: str) -> Store:
    """A plan, and a last tick ten minutes ago."""
    (folder / "cron2queue.toml").write_text(PLAN.format(url=database.url, missed=missed))
    store = database.store()
    ago = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=10)
    store.tick(Tick(name="every-minute", nominal=ago), NewJob(kind="mail"))
    return store


def test_after_downtime_as_many_ticks_are_made_up_for_as_the_plan_says(sqlite_database: Database, tmp_path: Path) -> None:
    late(sqlite_database, tmp_path, "all")
    ran = run("enqueue", "--missed", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == 3
    last = from_micros(sqlite_database.value("SELECT last_nominal FROM {ticks}"))
    assert datetime.now(UTC) - last < timedelta(minutes=2)
    assert sqlite_database.value("SELECT COUNT(*) FROM {jobs}") == 4


@pytest.mark.parametrize("command", ["--missed", "every-minute --tick"])
def test_no_missed_tick_stands_in_the_way_of_the_next(sqlite_database: Database, tmp_path: Path, command: str) -> None:
    late(sqlite_database, tmp_path, "all")
    plan = tmp_path / "cron2queue.toml"
    plan.write_text(plan.read_text().replace('overlap = "queue"', 'overlap = "skip"'))
    ran = run("enqueue", *command.split(), folder=tmp_path)
    assert "skipped" not in ran.stdout and len(ran.stdout.splitlines()) in (3, 4)
    assert sqlite_database.value("SELECT COUNT(*) FROM {jobs}") == 1 + len(ran.stdout.splitlines())


@pytest.mark.parametrize(("missed", "count"), [("skip", 0), ("once", 1)])
def test_skip_makes_up_for_nothing_and_once_for_one(sqlite_database: Database, tmp_path: Path, missed: str, count: int) -> None:
    late(sqlite_database, tmp_path, missed)
    assert len(run("enqueue", "--missed", folder=tmp_path).stdout.splitlines()) == count


def test_a_tick_comes_after_those_that_were_missed(sqlite_database: Database, tmp_path: Path) -> None:
    late(sqlite_database, tmp_path, "all")
    ran = run("enqueue", "every-minute", "--tick", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    keys = [bytes(row[0]).decode() for row in sqlite_database.rows("SELECT job_key FROM {jobs} ORDER BY id")]
    assert len(keys) in (3, 4, 5)
    assert keys == sorted(keys)


def test_old_jobs_are_pruned_and_counted(sqlite_database: Database, tmp_path: Path) -> None:
    sqlite_database.store().enqueue_many([NewJob(kind="mail") for _ in range(3)])
    sqlite_database.change("UPDATE {jobs} SET state = 'succeeded', finished_at = 1")
    kept = run("prune", "--succeeded", "-1", "--database", sqlite_database.url, folder=tmp_path)
    assert kept.stdout.startswith("0 jobs")
    ran = run("prune", "--database", sqlite_database.url, "--format", "json", folder=tmp_path)
    told = json.loads(ran.stdout)
    assert told.pop("by") and told == {"jobs": 3, "inbox": 0, "operations": 0}
