"""What docs/explanation/delivery.md promises holds after races, crashes and rescues: its own queries are run."""

import re
from pathlib import Path

import pytest
from databases import Database
from runtime.conformance import racers

from cron2queue.runtime.jobs import Cancelled, Crashed, Done, GiveUp, NewJob, Released, RetryAt, Settlement

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "delivery.md"
CHECKS = re.findall(
    r"\*\*(.+?)\*\*[^`]*?```sql\n(.+?)```(?:\n\n```sql\n(.+?)```)?", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
)
QUERIES = [(sentence, query) for sentence, *found in CHECKS for query in found if query]


def broken(database: Database) -> dict[str, list[tuple[object, ...]]]:
    return {sentence: rows for sentence, query in QUERIES if (rows := database.rows(query))}


def test_every_query_of_the_page_is_found() -> None:
    assert len(QUERIES) == PAGE.read_text(encoding="utf-8").count("```sql") == 12


def test_all_promises_hold_after_workers_producers_and_rescues_at_once(database: Database) -> None:
    total = 96
    database.close()
    producers = [(racers.produce, (16, 0))] * 3 + [(racers.produce_ordered, (16,))] * 3
    racers.race((database.url, False), [(racers.rough_work, (total,))] * 4 + producers)
    assert database.value("SELECT COUNT(*) FROM {jobs}") == total
    assert broken(database) == {}


def test_all_promises_hold_in_the_middle_of_things(database: Database) -> None:
    store = database.store()
    store.set_limit("kind", "mail", by="ops", concurrency=4)
    store.enqueue_many([NewJob(kind="mail", key=f"k{n}", ordering_key=f"o{n % 5}" if n % 2 else None) for n in range(30)])
    ends = [Done(), RetryAt(delay_seconds=0), GiveUp(reason="x"), Crashed(reason="x"), Released(), Cancelled()]
    for turn in range(12):
        jobs = store.claim("default", kinds=("mail",), limit=3, worker=f"w{turn % 2}")
        for job in jobs[:1]:
            store.cancel(job.public_id, by="user")
        store.settle([Settlement(job=job, outcome=ends[(turn + place) % 6]) for place, job in enumerate(jobs[1:])])
        if turn % 4 == 3:
            store.rescue(f"w{turn % 2}", counter_seen=-1, by="x")
            store.requeue(kind="mail", by="ops")
        store.move_due()
        assert broken(database) == {}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE {jobs} SET state = 'lost'", "UPDATE {jobs} SET lease = 'x'", "UPDATE {jobs} SET finished_at = 1",
        "UPDATE {jobs} SET attempts = 9, runs = 9", "UPDATE {jobs} SET cancel_requested_at = 1",
        "UPDATE {jobs} SET state = 'running', lease = 'x', worker = 'w'", "UPDATE {jobs} SET state = 'dead', finished_at = 1",
        "UPDATE {jobs} SET ordering_key = 'o'",
    ],
)  # fmt: skip
def test_damage_is_found(sqlite_database: Database, damage: str) -> None:
    sqlite_database.store().enqueue_many([NewJob(kind="mail", key="a"), NewJob(kind="mail", key="b")])
    sqlite_database.change(damage.replace("'o'", "x'6f'"))
    assert broken(sqlite_database)
