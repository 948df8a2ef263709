"""Races, with real processes that start at a barrier: nothing lost, nothing doubled, no deadlock that anybody hears of."""

from databases import Database
from runtime.conformance import racers
from runtime.conformance.conftest import mail

from cron2queue.runtime.store import Store


def place(table: Database) -> tuple[str, bool]:
    table.close()  # no connection crosses the fork
    return table.url, table.bare


def test_two_workers_that_claim_at_once_get_different_jobs_and_neither_nothing(table: Database, store: Store) -> None:
    store.enqueue_many([mail() for _ in range(40)])
    for _ in range(3):
        first, second = racers.race(place(table), [(racers.claim_once, (5,)), (racers.claim_once, (5,))])
        assert (len(first), len(second)) == (5, 5)
        assert not set(first) & set(second)
    assert table.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'running'") == 30


def test_eight_workers_drain_a_backlog_and_each_job_ends_once(table: Database, store: Store) -> None:
    total = 300
    store.enqueue_many([mail() for _ in range(total)])
    ran = racers.race(place(table), [(racers.drain, (5, total))] * 8)
    everything = [job_id for each in ran for job_id in each]
    assert len(everything) == len(set(everything)) == total
    assert table.value("SELECT COUNT(*) FROM {attempts}") == total
    assert table.value("SELECT MAX(attempts) FROM {jobs}") == 1


def test_many_producers_of_the_same_keys_make_one_row_each_and_all_learn_its_id(table: Database, store: Store) -> None:
    answers = racers.race(place(table), [(racers.produce, (20, 20))] * 6)
    ids = [[job_id for job_id, _ in each] for each in answers]
    assert all(each == ids[0] for each in ids)
    assert sum(not duplicate for each in answers for _, duplicate in each) == 20
    assert table.value("SELECT COUNT(*) FROM {jobs}") == 20


def test_bulks_with_the_same_keys_in_opposite_order_do_not_stop_each_other(table: Database, store: Store) -> None:
    answers = racers.race(place(table), [(racers.produce_in_bulk, (50,))] * 4)
    assert len({tuple(sorted(each)) for each in answers}) == 1
    assert table.value("SELECT COUNT(*) FROM {jobs}") == 50


def test_workers_producers_and_rescue_at_once_lose_nothing_and_no_deadlock_surfaces(table: Database, store: Store) -> None:
    """Eight workers and eight producers on a near-empty queue: where locks meet most."""
    producers = [(racers.produce, (12, 0))] * 8
    total = 96
    answers = racers.race(place(table), [(racers.rough_work, (total,))] * 8 + producers)
    enqueued = {job_id for each in answers[8:] for job_id, _ in each}
    assert len(enqueued) == total
    states = dict(table.rows("SELECT state, COUNT(*) FROM {jobs} GROUP BY state"))
    assert sum(states.values()) == total
    assert set(states) <= {"succeeded", "dead"}
    assert table.rows("SELECT id FROM {jobs} WHERE attempts > max_attempts OR lease IS NOT NULL") == []
    assert (
        table.rows("SELECT job_id FROM {attempts} GROUP BY job_id HAVING SUM(CASE WHEN outcome = 'done' THEN 1 ELSE 0 END) > 1")
        == []
    )


def test_one_ordering_key_under_four_workers_and_two_producers_stays_one_at_a_time_in_order(
    table: Database, store: Store
) -> None:
    total = 24
    runs = [(racers.drain_ordered, (total,))] * 4 + [(racers.produce_ordered, (12,))] * 2
    answers = racers.race(place(table), runs)
    seen = [each for worker in answers[:4] for each in worker]
    assert len(seen) == total
    assert all(running <= 1 for _, running in seen)
    started = [bytes(row[0]).decode() for row in table.rows("SELECT job_key FROM {jobs} ORDER BY started_at, id")]
    for producer in ("4", "5"):  # the order in which each producer was told that its job is accepted
        own = [int(key.partition("/")[2]) for key in started if key.startswith(producer)]
        assert own == sorted(own)


def test_a_limit_holds_under_six_workers(table: Database, store: Store) -> None:
    total = 48
    store.set_limit("kind", "mail", by="ops", concurrency=3)
    store.enqueue_many([mail() for _ in range(total)])
    most = racers.race(place(table), [(racers.drain_limited, (total,))] * 6)
    assert 1 <= max(most) <= 3


def test_a_queues_limit_holds_under_six_workers(table: Database, store: Store) -> None:
    total = 48
    store.set_limit("queue", "default", by="ops", concurrency=3)
    store.enqueue_many([mail() for _ in range(total)])
    most = racers.race(place(table), [(racers.drain_limited, (total,))] * 6)
    assert 1 <= max(most) <= 3


def test_cancel_against_claims_settles_and_rescues_leaves_each_job_with_one_end(table: Database, store: Store) -> None:
    total = 40
    answers = store.enqueue_many([mail() for _ in range(total)])
    public_ids = [answer.public_id for answer in answers]
    runs = [(racers.run_all_but_stop, (total,))] * 4 + [(racers.cancel_all, (public_ids,))]
    said = racers.race(place(table), runs)[4]
    ends = dict(table.rows("SELECT public_id, state FROM {jobs}"))
    assert set(ends.values()) <= {"succeeded", "cancelled", "dead"}
    for public_id, answer in zip(public_ids, said, strict=True):
        if answer == "cancelled":
            assert ends[public_id] == "cancelled"
    again = "SELECT COUNT(*) FROM {jobs} WHERE state = 'cancelled' AND started_at > finished_at"
    assert table.value(again) == 0
