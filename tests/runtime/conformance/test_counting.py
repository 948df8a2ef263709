"""Refusals and duplicates are counted beside what producers do, and never in their way."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from databases import Database
from runtime.conformance.conftest import mail

from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.sight.inspection import Inspection
from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import QueueFull
from cron2queue.runtime.verbs import counting
from cron2queue.runtime.verbs.counting import ProducerCounts
from cron2queue.runtime.verbs.tally import Count
from cron2queue.runtime.verbs.ticking import Tick


def sums(table: Database) -> dict[tuple[str, str, str], int]:
    """What is counted since ever, by queue, kind and series; the present period holds the same."""
    query = "SELECT queue, kind, series, SUM(n) FROM {rollups} WHERE period %s GROUP BY queue, kind, series"
    ever, period = ({tuple(row[:3]): int(row[3]) for row in table.rows(query % which)} for which in ("= 0", "> 0"))
    assert ever == period
    return ever


def counts_of(store: Store) -> ProducerCounts:
    assert store._counts is not None
    return store._counts


def fill(store: Store, depth: int = 1) -> None:
    store.enqueue_many([mail() for _ in range(depth)])
    store.set_limit("queue", "default", by="ops", depth=depth)


def test_what_a_full_queue_refuses_is_counted_when_the_store_is_closed(table: Database, store: Store) -> None:
    fill(store)
    producer = table.store()
    with pytest.raises(QueueFull) as full:
        producer.enqueue_many([mail(), mail(), NewJob(kind="report"), mail(queue="other")])
    assert full.value.queue == "default"
    producer.close()
    assert sums(table) == {("default", "mail", "refused"): 2, ("default", "report", "refused"): 1}
    assert int(table.value("SELECT COUNT(*) FROM {jobs}")) == 1


def test_what_was_there_already_is_counted_as_that(table: Database, store: Store) -> None:
    store.enqueue(mail(key="a"))
    answers = store.enqueue_many([mail(key="a"), mail(key="b"), mail(key="b"), NewJob(kind="report", key="a")])
    assert [each.duplicate for each in answers] == [True, False, True, False]
    store.close()
    assert sums(table) == {("default", "mail", "duplicates"): 2}
    store.close()
    assert sums(table) == {("default", "mail", "duplicates"): 2}


def test_the_second_host_of_a_tick_is_a_duplicate(table: Database, store: Store) -> None:
    tick = Tick(name="nightly", nominal=datetime(2026, 11, 30, 3, 0, tzinfo=UTC))
    other = table.store()
    store.tick(tick, mail())
    other.tick(tick, mail())
    store.close()
    other.close()
    assert sums(table) == {("default", "mail", "duplicates"): 1}


def test_nobody_has_to_close_a_store_for_its_figures_to_come(table: Database, store: Store) -> None:
    store.enqueue(mail(key="a"))
    store.enqueue(mail(key="a"))
    for thread in [each for each in threading.enumerate() if each.name == "cron2queue-counts"]:
        thread.join()  # it ends when everything is written
    assert sums(table) == {("default", "mail", "duplicates"): 1}


@contextmanager
def transaction(table: Database, store: Store) -> Iterator[Any]:
    """One of an application; rolled back."""
    raw = table.connect()
    store.driver.begin(raw)
    try:
        yield raw
    finally:
        store.driver.rollback(raw)
        raw.close()


def test_a_refusal_in_a_callers_transaction_is_counted_although_that_is_rolled_back(table: Database, store: Store) -> None:
    fill(store)
    with transaction(table, store) as raw:
        with pytest.raises(QueueFull):
            store.enqueue(mail(), connection=raw)
        # SQLite has one writer: the figure is kept until the caller has finished.
        assert counts_of(store).write() is (table.name != "sqlite")
    assert counts_of(store).write()
    assert sums(table) == {("default", "mail", "refused"): 1}


def test_a_duplicate_in_a_callers_transaction_leaves_no_lock_behind_in_it(table: Database, store: Store) -> None:
    if table.name == "sqlite":
        pytest.skip("a writer locks the whole file")
    store.enqueue(mail(key="a"))
    with transaction(table, store) as raw:
        assert store.enqueue(mail(key="a"), connection=raw).duplicate
        other = table.store()
        assert other.enqueue(mail(key="a")).duplicate
        assert counts_of(other).write()
        assert counts_of(store).write()
    assert sums(table) == {("default", "mail", "duplicates"): 2}


def test_a_row_that_another_holds_is_not_waited_for_longer_than_a_moment(table: Database, store: Store) -> None:
    store.enqueue(mail(key="a"))
    store.enqueue(mail(key="a"))
    assert counts_of(store).write()
    with transaction(table, store) as raw:
        store.driver.cursor(raw).execute("UPDATE c2q_rollups SET n = n")
        counts_of(store).count(counting.DUPLICATES, [mail(key="a")])
        assert not counts_of(store).write()
        counts_of(store).finish()  # the last try failed: a process that ends does not wait once more
    assert counts_of(store).write()
    assert sums(table) == {("default", "mail", "duplicates"): 2}


def test_a_trouble_with_the_figures_is_none_of_the_producers(table: Database, store: Store) -> None:
    store.enqueue(mail(key="a"))
    table.change("ALTER TABLE {rollups} RENAME TO c2q_elsewhere")
    try:
        assert store.enqueue(mail(key="a")).duplicate
        store.close()
        assert store.enqueue(mail(key="a")).duplicate
    finally:
        table.change("ALTER TABLE c2q_elsewhere RENAME TO {rollups}")
    assert counts_of(store).write()
    assert sums(table) == {("default", "mail", "duplicates"): 2}


def test_a_fork_counts_its_own_and_the_parent_the_rest(table: Database, store: Store) -> None:
    store.enqueue(mail(key="a"))
    store.enqueue(mail(key="a"))
    child = os.fork()
    if child == 0:
        store.enqueue(mail(key="a"))
        store.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    store.close()
    assert sums(table) == {("default", "mail", "duplicates"): 2}


def test_without_another_thread_the_figures_come_at_the_end(
    table: Database, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    store.enqueue(mail(key="a"))
    assert store.enqueue(mail(key="a")).duplicate
    store.close()
    assert sums(table) == {("default", "mail", "duplicates"): 1}


def test_a_process_that_just_ends_has_counted(table: Database, store: Store) -> None:
    code = (
        "import sys\nfrom cron2queue.runtime import NewJob, Store\nstore = Store.open(sys.argv[1])\n"
        "for _ in range(3): store.enqueue(NewJob(kind='mail', key='a'))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, table.url], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert sums(table) == {("default", "mail", "duplicates"): 2}


def test_the_figures_of_the_last_hour_stand_in_the_status(table: Database, store: Store) -> None:
    fill(store, depth=2)
    store.set_limit("queue", "other", by="ops", depth=5)
    store.enqueue(mail(key="a", queue="other"))
    store.enqueue(mail(key="a", queue="other"))
    with pytest.raises(QueueFull):
        store.enqueue_many([mail() for _ in range(3)])
    store.close()
    table.change("UPDATE {rollups} SET n = n + 100 WHERE period = 0")  # of long ago
    queues = Inspection.open(table.url).queues()
    assert [(each.queue, each.refused, each.duplicates) for each in queues] == [("default", 3, 0), ("other", 0, 1)]


def test_a_worker_and_producers_lock_the_figures_in_one_order(table: Database) -> None:
    stores, kinds = [table.store() for _ in range(4)], ("c", "a", "b")
    barrier, troubles = threading.Barrier(len(stores)), []

    def add(number: int) -> None:
        try:
            for _ in range(5):
                barrier.wait()
                if number % 2:
                    counts = ProducerCounts(stores[number].sessions, stores[number].backend)
                    counts._tally.give_back([Count("q", kind, counting.REFUSED, 0, 1) for kind in kinds])
                    assert counts.write()
                else:
                    stores[number].tally.give_back([Count("q", kind, counting.REFUSED, 0, 1) for kind in reversed(kinds)])
                    stores[number].roll_up()
        except BaseException as trouble:  # told below, in the test's own thread
            troubles.append(trouble)
            barrier.abort()

    threads = [threading.Thread(target=add, args=(number,)) for number in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    assert sums(table) == {("q", kind, "refused"): 20 for kind in kinds}
