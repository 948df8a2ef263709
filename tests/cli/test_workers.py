"""`cron2queue workers`: list, restart."""

from command_line import run
from databases import Database
from scenes import accept, claim, register


def test_workers_are_listed_with_what_they_run_the_silent_ones_first(database: Database) -> None:
    store = database.store()
    accept(store, 3)
    register(store, "w1")
    register(store, "w2")
    claim(store, 2)
    database.change("UPDATE {workers} SET beat_at = beat_at - 3600000000, host = 'web2' WHERE token = 'w2'")
    lines = run("workers", "list", "--database", database.url).out.splitlines()
    assert lines[1].split()[0] == "web2:4711" and "silent" in lines[1]
    assert lines[2].split()[0] == "web1:4711" and [line.split()[1] for line in lines[3:]] == ["k0", "k1"]
    workers = run("workers", "list", "--database", database.url, "--format", "json").json["workers"]
    assert {worker["host"]: (worker["alive"], len(worker["running"])) for worker in workers} == {
        "web1": (True, 2),
        "web2": (False, 0),
    }


def test_without_workers_it_says_how_to_start_one(sqlite_database: Database) -> None:
    assert "`cron2queue worker` starts one" in run("workers", "list", CRON2QUEUE_DATABASE_URL=sqlite_database.url).out


def test_restart_raises_the_mark_that_workers_watch_and_is_recorded(database: Database) -> None:
    before = database.value("SELECT restart_mark FROM {controls}")
    assert run("workers", "restart", "--by", "anna", "--database", database.url).status == 0
    assert database.value("SELECT restart_mark FROM {controls}") == before + 1
    assert database.rows("SELECT done_by, verb FROM {operations}") == [("anna", "restart-workers")]


def test_restart_says_how_many_workers_it_reaches_and_that_there_is_none(sqlite_database: Database) -> None:
    restart = ("workers", "restart", "--database", sqlite_database.url)
    assert "no worker runs now" in run(*restart).out and run(*restart, "--format", "json").json["workers"] == 0
    store = sqlite_database.store()
    register(store, "w1")
    assert "1 worker stops after its jobs" in run(*restart).out
    register(store, "w2")
    assert "2 workers stop after their jobs" in run(*restart).out
