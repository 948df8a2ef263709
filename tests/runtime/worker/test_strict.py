"""Ends of strict kinds: each in a commit of its own, several under way at one time, and none run far ahead of its commit."""

import threading

import pytest
from databases import SERVERS, Database, open_database
from workbench import Workbench

from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import Done, Job, NewJob, Settlement
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.settlers import AT_ONE_TIME, Settlers, connections
from cron2queue.runtime.worker.unwritten import Unwritten

JOBS = 20


def claimed(store: Store) -> list[Job]:
    store.enqueue_many([NewJob(kind="mail") for _ in range(JOBS)])
    return store.claim("default", kinds=("mail",), limit=JOBS, worker="w")


def ends(jobs: list[Job]) -> list[Settlement]:
    return [Settlement(job, Done()) for job in jobs]


def test_ends_are_told_in_their_order_and_a_lost_lease_apart(database: Database) -> None:
    store = database.store()
    jobs = claimed(store)
    database.change("UPDATE {jobs} SET lease = 'other', worker = 'other' WHERE id = ?", (jobs[7].id,))
    settlers = Settlers(store, one_writer=database.name == "sqlite")
    assert settlers.settle(ends(jobs)) == [number != 7 for number in range(JOBS)]
    assert settlers.settle(ends(jobs[:7])) == [True] * 7  # they have ended so already
    assert database.rows("SELECT state, COUNT(*) FROM {jobs} GROUP BY state ORDER BY 1") == [("running", 1), ("succeeded", 19)]
    assert database.value("SELECT COUNT(*) FROM {attempts}") == 19
    assert {each.series: each.n for each in store.tally.take() if "outcome" in each.series} == {"outcome:done": 26}


@pytest.mark.parametrize("name", SERVERS)
def test_an_end_that_has_to_wait_keeps_no_other_from_its_commit(name: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    database = open_database(name, tmp_path)
    store = database.store()
    jobs = claimed(store)
    holder = database.connect()
    holder.cursor().execute("BEGIN")
    holder.cursor().execute(f"SELECT id FROM c2q_jobs WHERE id = {jobs[0].id} FOR UPDATE")
    answers: list[bool | Exception] = []
    settling = threading.Thread(target=lambda: answers.extend(Settlers(store, one_writer=False).settle(ends(jobs))))
    settling.start()
    bench = Workbench(folder=tmp_path, url=database.url)
    bench.until(lambda: bench.states() == {"running": 1, "succeeded": JOBS - 1})
    holder.rollback()
    settling.join()
    assert answers == [True] * JOBS
    holder.close()
    bench.close()
    database.close()


def test_one_that_fails_is_told_as_an_error_beside_those_that_are_written(database: Database) -> None:
    class Choosy(Store):
        def settle(self, settlements):  # type: ignore[no-untyped-def]
            if settlements[0].job.id == jobs[3].id:
                raise RuntimeError("not this one")
            return super().settle(settlements)

    jobs = claimed(database.store())
    with_trouble = Choosy.open(database.url, prefix=database.prefix)
    answers = Settlers(with_trouble, one_writer=database.name == "sqlite").settle(ends(jobs))
    assert [number for number, each in enumerate(answers) if each is not True] == [3]
    assert str(answers[3]) == "not this one"
    assert database.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'succeeded'") == JOBS - 1
    with_trouble.close()


def test_each_end_of_a_strict_kind_is_a_transaction_of_its_own(tmp_path) -> None:  # type: ignore[no-untyped-def]
    database = open_database("postgresql", tmp_path)
    bench = Workbench(folder=tmp_path, url=database.url)
    bench.python("careful", strict=True, short=True)
    bench.handlers('@handler("careful")\ndef careful(job): pass\n')
    for _ in range(30):
        bench.enqueue("careful")
    assert bench.drain() == 0
    assert bench.states() == {"succeeded": 30}
    assert bench.rows("SELECT COUNT(DISTINCT CAST(xmin AS TEXT)) FROM {attempts}") == [(30,)]
    bench.close()
    database.close()


def test_a_strict_kind_does_not_run_far_ahead_of_its_commits(sqlite_bench: Workbench) -> None:
    """What runs is claimed and has not ended in the table: the last of the jobs look how many there are."""
    group = WorkerOptions.__dataclass_fields__["group"].default
    count = 6 * group
    sqlite_bench.python("careful", strict=True, short=True)
    sqlite_bench.handlers(f"""
import sqlite3
@handler("careful")
def careful(job):
    if job.payload > {5 * group}:
        with sqlite3.connect({sqlite_bench.url.removeprefix("sqlite:///")!r}) as raw:
            note("unended", raw.execute("SELECT COUNT(*) FROM c2q_jobs WHERE state = 'running'").fetchone()[0])
""")
    sqlite_bench.store.enqueue_many([NewJob(kind="careful", payload=number) for number in range(count)])
    assert sqlite_bench.drain("--children", "1") == 0
    assert sqlite_bench.states() == {"succeeded": count}
    assert max(map(int, sqlite_bench.lines("unended"))) <= 3 * group


def test_what_waits_for_a_commit_of_its_own_stands_beside_the_group() -> None:
    def end(number: int) -> Settlement:
        return Settlement(job=number, outcome=Done())  # type: ignore[arg-type]

    waiting = Unwritten()
    assert not waiting
    for number in range(250):
        waiting.add(end(number), strict=number % 2 == 0)
    assert waiting.for_one_commit() == [end(number) for number in range(1, 250, 2)]
    waiting.written(waiting.for_one_commit())
    assert waiting.for_one_commit() == [end(0)]
    batch = waiting.for_a_commit_each()
    waiting.written_each(batch, still=[batch[1]])
    assert waiting.alone[:2] == [end(2), end(2 * len(batch))]


def test_connections_are_counted_for_strict_kinds_alone() -> None:
    assert connections([HandlerOptions(kind="a"), HandlerOptions(kind="b", strict=True)]) == AT_ONE_TIME
    assert connections([HandlerOptions(kind="a")]) == 0
