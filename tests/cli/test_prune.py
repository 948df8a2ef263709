"""`cron2queue prune`: by state and age, with a dry run first."""

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
    assert ran.out == "would be deleted: 3 succeeded, 0 cancelled, 2 dead\n"
    assert run("prune", "--dry-run", "--dead", "365", "--format", "json", "--database", database.url).json == {
        "would_prune": {"succeeded": 3, "cancelled": 0, "dead": 0}
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


def test_nonsense_is_refused(sqlite_database: Database) -> None:
    assert run("prune", "--dead", "many", "--database", sqlite_database.url).status == 2
    assert (
        run("prune", "--dry-run", "--dead", "-1", "--database", sqlite_database.url).out
        == "would be deleted: 0 succeeded, 0 cancelled\n"
    )
    assert run("prune", "--database", "sqlite:////no/such/folder/x.db").status == 69
