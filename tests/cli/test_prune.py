"""`cron2queue prune`: by state and age, with a dry run first."""

import json
from pathlib import Path

from command_line import run
from databases import Database
from scenes import accept, finish, kill, register

DAY = 86_400_000_000


def ended(database: Database) -> None:
    """Three succeeded and two dead, a hundred days ago; one dead and one ready now."""
    store = database.store()
    register(store)
    accept(store, 7)
    finish(store, 3)
    kill(store, 2)
    database.change(f"UPDATE {{jobs}} SET finished_at = finished_at - {100 * DAY} WHERE finished_at IS NOT NULL")
    kill(store)


def states(database: Database) -> list[str]:
    return sorted(row[0] for row in database.rows("SELECT state FROM {jobs}"))


def test_a_dry_run_counts_and_deletes_nothing(database: Database) -> None:
    ended(database)
    ran = run("prune", "--dry-run", "--database", database.url)
    assert ran.out == "would be deleted: 3 succeeded, 0 cancelled, 2 dead, 0 messages, 0 lines of the operators' log\n"
    assert run("prune", "--dry-run", "--dead", "365", "--format", "json", "--database", database.url).json == {
        "would_prune": {"succeeded": 3, "cancelled": 0, "dead": 0, "inbox": 0, "log": 0}
    }
    assert len(states(database)) == 7


def test_what_is_older_goes_with_its_attempts_and_the_rest_stays(database: Database) -> None:
    ended(database)
    ran = run("prune", "--dead", "365", "--database", database.url)
    assert ran.status == 0 and ran.out.startswith("3 jobs, 0 messages and 0 lines")
    assert states(database) == ["dead", "dead", "dead", "ready"]
    assert database.value("SELECT COUNT(*) FROM {attempts}") == 3
    assert run("prune", "--format", "json", "--database", database.url).json["jobs"] == 2
    assert states(database) == ["dead", "ready"]


def test_a_limit_leaves_the_rest_for_the_next_time(sqlite_database: Database) -> None:
    store = sqlite_database.store()
    register(store)
    accept(store, 1200)
    sqlite_database.change(f"UPDATE {{jobs}} SET state = 'succeeded', finished_at = {{now}} - {100 * DAY}")
    run("prune", "--most", "600", "--database", sqlite_database.url)
    assert 0 < len(states(sqlite_database)) <= 700
    run("prune", "--database", sqlite_database.url)
    assert states(sqlite_database) == []


def test_the_plan_says_how_long_and_an_option_goes_before_it(sqlite_database: Database, tmp_path: Path) -> None:
    ended(sqlite_database)
    plan = tmp_path / "cron2queue.toml"
    head = f'format-version = 1\n[project]\ndatabase = "{sqlite_database.url}"\n'
    plan.write_text(head + "[retention]\nsucceeded = false\ndead = 99.5\nlog = false\n")
    told = run("prune", "--dry-run", "--plan", str(plan)).out
    assert told == "would be deleted: 0 cancelled, 2 dead, 0 messages\n"
    ran = run("prune", "--dead", "365", "--succeeded", "1", "--plan", str(plan), "--by", "anna", "--format", "json")
    assert ran.json == {"jobs": 3, "inbox": 0, "operations": 0, "by": "anna"}
    plan.write_text(head + "[retention]\nded = 3\n")
    ran = run("prune", "--plan", str(plan))
    assert ran.status == 2 and f"{plan}:5: unknown key 'ded' in [retention]" in ran.err and "did you mean 'dead'?" in ran.err
    plan.write_text(head + "[retention]\ndead = -1\n")
    assert "retention.dead must be a number of days, or false to keep everything" in run("prune", "--plan", str(plan)).err


def test_old_messages_and_lines_of_the_log_are_counted_and_go(database: Database) -> None:
    store = database.store()
    store.pause("default", by="anna")
    raw = database.connect()
    store.once(raw, "shop", "message 1")
    raw.commit()
    raw.close()
    database.change(f"UPDATE {{inbox}} SET processed_at = processed_at - {31 * DAY}")
    database.change(f"UPDATE {{operations}} SET done_at = done_at - {366 * DAY}")
    ran = run("prune", "--dry-run", "--database", database.url)
    assert ran.out.endswith(" 0 dead, 1 messages, 1 lines of the operators' log\n")
    assert run("prune", "--database", database.url).out.startswith("0 jobs, 1 messages and 1 lines")
    assert run("prune", "--dry-run", "--inbox", "-1", "--log", "-1", "--database", database.url).out.endswith(" 0 dead\n")


def test_it_is_recorded_who_pruned(database: Database) -> None:
    ended(database)
    run("prune", "--by", "anna", "--database", database.url)
    (recorded,) = database.rows("SELECT done_by, verb, target, detail FROM {operations}")
    assert recorded[:3] == ("anna", "prune", "all") and json.loads(recorded[3]) == {"jobs": 5, "inbox": 0, "operations": 0}


def test_nonsense_is_refused(sqlite_database: Database) -> None:
    assert run("prune", "--dead", "many", "--database", sqlite_database.url).status == 2
    assert (
        run("prune", "--dry-run", "--dead", "-1", "--database", sqlite_database.url).out
        == "would be deleted: 0 succeeded, 0 cancelled, 0 messages, 0 lines of the operators' log\n"
    )
    assert run("prune", "--database", "sqlite:////no/such/folder/x.db").status == 69
