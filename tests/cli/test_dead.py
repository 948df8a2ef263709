"""`cron2queue dead`: grouped, and requeued by filter."""

import sqlite3
from itertools import pairwise

import pytest
from command_line import run
from databases import Database
from scenes import KIND, accept, kill, register


def five_dead(database: Database) -> list[str]:
    store = database.store()
    ids = accept(store, 4)
    ids += accept(store, 1, kind="report", key="r", queue="mail")
    register(store, queues=["default", "mail"], kinds=[KIND, "report"])
    for number in range(4):
        kill(store, message=f"cannot reach 10.0.0.{number}" if number else "disk full")
    kill(store, kind="report", queue="mail")
    return ids


def states(database: Database) -> dict[str, str]:
    return dict(database.rows("SELECT public_id, state FROM {jobs}"))


def test_the_dead_are_grouped_by_kind_and_error(database: Database) -> None:
    five_dead(database)
    ran = run("dead", "list", "--database", database.url)
    assert ran.status == 0 and ran.out.startswith("5 DEAD   by kind and error")
    assert "3  send-mail  cannot reach #.#.#.#" in ran.out
    record = run("dead", "list", "--database", database.url, "--format", "json").json
    assert (record["schema"], record["total"], record["capped"], record["looked_at"]) == (1, 5, False, 5)
    first = record["groups"][0]
    assert (first["kind"], first["error"], first["count"]) == (KIND, "cannot reach #.#.#.#", 3)


def test_nothing_dead_is_good_news(sqlite_database: Database) -> None:
    assert run("dead", "list", "--database", sqlite_database.url).out == "nothing is dead\n"


def test_a_million_dead_jobs_are_a_few_lines_and_it_is_said_what_was_looked_at(sqlite_database: Database) -> None:
    """The cap is what is tested: twelve thousand rows are past it as well as a million."""
    ids = accept(sqlite_database.store(), 1)
    raw = sqlite3.connect(sqlite_database.address.database)
    row = raw.execute("SELECT * FROM c2q_jobs").fetchone()
    names = [each[1] for each in raw.execute("PRAGMA table_info(c2q_jobs)")]
    cells = dict(zip(names, row, strict=True)) | {
        "state": "dead",
        "dedupe": None,
        "finished_at": row[names.index("created_at")],
    }
    many = [{**cells, "id": n, "public_id": f"{n:032x}", "message": f"order {n} of {n % 7}"} for n in range(2, 12_002)]
    places = ", ".join(f":{name}" for name in names)
    raw.executemany(f"INSERT INTO c2q_jobs ({', '.join(names)}) VALUES ({places})", many)
    raw.commit()
    raw.close()
    ran = run("dead", "list", CRON2QUEUE_DATABASE_URL=sqlite_database.url)
    assert ran.out.startswith(">10,000 DEAD   grouped: the newest 10,000 of them")
    assert len(ran.out.splitlines()) < 10 and "order # of #" in ran.out
    assert ids[0] not in ran.out
    ran = run("dead", "requeue", "--all", "--dry-run", "--database", sqlite_database.url)
    assert ran.out == "12,000 dead jobs would be requeued\n"


@pytest.mark.parametrize(
    ("filters", "revived"),
    [
        (["--kind", "report"], [4]),
        (["--queue", "default"], [0, 1, 2, 3]),
        (["--error", "cannot reach"], [1, 2, 3]),
        (["--error", "100%_"], []),
        (["--kind", KIND, "--error", "full"], [0]),
        (["--since", "1h"], [0, 1, 2, 3, 4]),
        (["--since", "2030-01-01"], []),
        (["--all"], [0, 1, 2, 3, 4]),
    ],
    ids=str,
)
def test_requeue_revives_what_fits_the_filter_and_nothing_else(
    sqlite_database: Database, filters: list[str], revived: list[int]
) -> None:
    ids = five_dead(sqlite_database)
    ran = run("dead", "requeue", *filters, "--database", sqlite_database.url)
    assert ran.status == 0 and ran.out.startswith(f"{len(revived)} dead job")
    assert states(sqlite_database) == {each: "ready" if number in revived else "dead" for number, each in enumerate(ids)}


def test_requeue_by_ids_is_recorded_with_who(database: Database) -> None:
    ids = five_dead(database)
    ran = run("dead", "requeue", ids[0], ids[4][:12], "--by", "anna", "--database", database.url, "--format", "json")
    assert ran.json == {"requeued": 2, "spread_seconds": 0.0, "by": "anna"}
    assert database.rows("SELECT done_by, verb, target FROM {operations} ORDER BY id") == [
        ("anna", "requeue", ids[0]), ("anna", "requeue", ids[4]),
    ]  # fmt: skip


def test_a_spread_divides_the_starts_over_the_time(database: Database) -> None:
    ids = five_dead(database)
    ran = run("dead", "requeue", "--all", "--spread", "600", "--database", database.url)
    assert "5 dead jobs requeued, spread over 10m" in ran.out
    times = [int(row[0]) for row in database.rows("SELECT run_at FROM {jobs} ORDER BY run_at")]
    gaps = [(after - before) / 1e6 for before, after in pairwise(times)]
    assert all(110 < gap < 130 for gap in gaps)
    assert sorted(states(database)[each] for each in ids) == ["ready"] + ["scheduled"] * 4


@pytest.mark.parametrize("arguments", [[], ["--all", "--kind", "x"], ["abcdef", "--all"]])
def test_requeue_asks_what_is_meant(sqlite_database: Database, arguments: list[str]) -> None:
    five_dead(sqlite_database)
    ran = run("dead", "requeue", *arguments, "--database", sqlite_database.url)
    assert ran.status == 2 and "say which dead jobs" in ran.err
    assert set(states(sqlite_database).values()) == {"dead"}


def test_a_dry_run_changes_nothing(sqlite_database: Database) -> None:
    five_dead(sqlite_database)
    ran = run("dead", "requeue", "--kind", KIND, "--dry-run", "--database", sqlite_database.url)
    assert ran.out == "4 dead jobs would be requeued\n"
    assert set(states(sqlite_database).values()) == {"dead"}
