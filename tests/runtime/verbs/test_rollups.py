"""The roll-ups: what workers count is added up, by several at once, and old periods go."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from databases import Database
from scenes import KIND, accept, finish, kill, register

from cron2queue.errors import Cron2QueueError
from cron2queue.runtime.sight import figures
from cron2queue.runtime.sight.inspection import Inspection
from cron2queue.runtime.verbs.rollups import KEPT_SECONDS


def sums(database: Database) -> dict[str, int]:
    rows = database.rows("SELECT series, SUM(n) FROM {rollups} WHERE period = 0 GROUP BY series")
    return {series: int(n) for series, n in rows}


def test_what_was_settled_is_added_to_the_period_and_to_all_time(database: Database) -> None:
    store = database.store()
    register(store)
    accept(store, 3)
    finish(store, 2, run_seconds=2.0)
    kill(store)
    assert store.roll_up() > 0 and store.roll_up() == 0
    found = sums(database)
    assert (found["succeeded"], found["failed"], found["dead"]) == (2, 1, 1)
    assert (found["run"], found["run_us"]) == (3, 5_000_000)
    periods = database.rows("SELECT period, SUM(n) FROM {rollups} WHERE series = 'succeeded' GROUP BY period")
    assert sorted(int(n) for _, n in periods) == [2, 2] and all(int(period) % 300 == 0 for period, _ in periods)


def test_many_workers_add_up_at_the_same_moment_and_nothing_is_lost(database: Database) -> None:
    stores = [database.store() for _ in range(6)]
    database.value("SELECT {now}")
    barrier, troubles = threading.Barrier(len(stores)), []

    def add(number: int) -> None:
        store = stores[number]
        try:
            for _ in range(5):
                for kind in ("a", "b", "c") if number % 2 else ("c", "b", "a"):
                    store.tally.count("default", kind, "rescued")
                barrier.wait()
                store.roll_up()
        except BaseException as trouble:  # told below, in the test's own thread
            troubles.append(trouble)
            barrier.abort()

    threads = [threading.Thread(target=add, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    rows = database.rows("SELECT kind, n FROM {rollups} WHERE period = 0 ORDER BY kind")
    assert [(kind, int(n)) for kind, n in rows] == [("a", 30), ("b", 30), ("c", 30)]


def test_periods_older_than_a_day_go_and_the_sums_stay(database: Database) -> None:
    store = database.store()
    store.tally.count("default", KIND, "rescued")
    store.roll_up()
    database.change("UPDATE {rollups} SET period = period - ? WHERE period > 0", (KEPT_SECONDS + 600,))
    store.tally.count("default", KIND, "dead")
    store.roll_up()
    assert [(series, int(n)) for series, n in database.rows("SELECT series, n FROM {rollups} WHERE period > 0")] == [
        ("dead", 1)
    ]
    assert sums(database) == {"rescued": 1, "dead": 1}


def test_a_failure_to_write_keeps_the_counts(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    store.tally.count("default", KIND, "rescued")
    sqlite_database.change("ALTER TABLE {rollups} RENAME TO away")
    with pytest.raises(Cron2QueueError):
        store.roll_up()
    sqlite_database.change("ALTER TABLE away RENAME TO {rollups}")
    assert store.roll_up() == 1 and sums(sqlite_database) == {"rescued": 1}


def test_the_last_hour_is_summed_for_status_and_metrics(database: Database) -> None:
    store = database.store()
    for queue, n in (("a", 2), ("b", 3)):
        store.tally.count(queue, KIND, "lease_lost", n)
        store.tally.count(queue, KIND, "succeeded", n)
    store.roll_up()
    inspection = Inspection.open(database.url)
    assert {each.queue: each.lease_lost for each in inspection.status().queues} == {"a": 2, "b": 3}
    with inspection.source.engine.connect() as connection:
        now = inspection.now()
        assert figures.rolled_up(connection, inspection.tables, now) == {
            ("a", KIND): {"succeeded": 2},
            ("b", KIND): {"succeeded": 3},
        }
    totals, enqueued = inspection.totals()
    assert sorted((each.queue, each.series, each.n) for each in totals) == [
        ("a", "lease_lost", 2), ("a", "succeeded", 2), ("b", "lease_lost", 3), ("b", "succeeded", 3),
    ]  # fmt: skip
    assert enqueued >= 0


def test_a_worker_writes_its_figures_before_it_ends(sqlite_database: Database, tmp_path: Path) -> None:
    job = '[jobs.{}]\ncommand = "{}"\nschedule = "@daily"\n'
    plan = tmp_path / "cron2queue.toml"
    plan.write_text("format-version = 1\n" + job.format("good", "true") + job.format("bad", "echo HTTP/1.1 503 >&2; exit 65"))
    store = sqlite_database.store()
    accept(store, 2, kind="good")
    accept(store, 1, kind="bad", key="b")
    command = [
        sys.executable,
        "-m",
        "cron2queue.runtime",
        "work",
        "--drain",
        "--plan",
        str(plan),
        "--database",
        sqlite_database.url,
    ]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert ran.returncode == 0, ran.stderr
    found = sums(sqlite_database)
    assert (found["succeeded"], found["dead"], found["foreign:503"]) == (2, 1, 1)
