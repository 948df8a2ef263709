"""Claim: who gets which job."""

from datetime import UTC, datetime, timedelta

import pytest
from databases import Database
from runtime.conformance.conftest import Claimer, mail, settled

from cron2queue.runtime.jobs import Done, NewJob, Settlement
from cron2queue.runtime.store import Store


def test_a_claimed_job_carries_what_its_producer_gave(store: Store, claim: Claimer) -> None:
    given = mail(
        payload={"to": "Jörg", "n": [1, None, True]}, key="k", priority=7, owner="shop", trace_context="00-ab-cd-01",
        ordering_key="customer 7", limit_key="customer 7", max_attempts=3,
    )  # fmt: skip
    answer = store.enqueue(given)
    (job,) = claim()
    assert job.public_id == answer.public_id == job.idempotency_key
    assert job.id == answer.id
    assert job.payload_text == '{"to":"Jörg","n":[1,null,true]}'
    assert (job.kind, job.key, job.queue, job.priority) == ("mail", "k", "default", 7)
    assert (job.owner, job.trace_context, job.ordering_key, job.limit_key) == (
        "shop",
        "00-ab-cd-01",
        "customer 7",
        "customer 7",
    )
    assert (job.attempt, job.max_attempts, job.crashes, job.run) == (1, 3, 0, 1)
    assert job.lease.worker == "w1"
    assert 0 <= job.waited_seconds < 300


@pytest.mark.parametrize("given", ["", "-", " ", "a b - c", "\udcff\udcfe", "Grüße\u0301 🎉", "NULL", "00", "\n"])
def test_whatever_a_text_holds_it_comes_out_of_a_claim_as_it_went_in(store: Store, claim: Claimer, given: str) -> None:
    store.enqueue(mail(key=given, ordering_key=given, limit_key=given, payload=given.encode("utf-8", "replace").decode()))
    store.enqueue(mail(owner=given, trace_context="00-ab - cd"))
    first, second = claim()
    assert (first.key, first.ordering_key, first.limit_key, first.owner, first.trace_context) == (
        given,
        given,
        given,
        None,
        None,
    )
    assert (second.key, second.ordering_key, second.limit_key, second.owner) == (None, None, None, given)
    assert (second.trace_context, second.payload_text, second.attempt, second.run) == ("00-ab - cd", "null", 1, 1)


def test_the_best_priority_comes_first_and_the_oldest_within_it(store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key=f"{number}", priority=priority) for number, priority in enumerate([5, 1, 5, 1, 3])])
    assert [job.key for job in claim()] == ["1", "3", "4", "0", "2"]


def test_no_job_is_claimed_twice(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail() for _ in range(7)])
    other = table.store()
    first, second, third = claim(3), claim(3, worker="w2", by=other), claim(3)
    assert [len(each) for each in (first, second, third)] == [3, 3, 1]
    assert len({job.id for job in (*first, *second, *third)}) == 7
    assert len({job.lease.token for job in (*first, *second, *third)}) == 7


def test_only_kinds_that_the_worker_knows_are_claimed_and_unknown_ones_stay(
    table: Database, store: Store, claim: Claimer
) -> None:
    store.enqueue_many([NewJob(kind="of.the.next.release", priority=1), mail(priority=9)])
    assert [job.kind for job in claim()] == ["mail"]
    assert table.rows("SELECT kind, state, attempts FROM {jobs} WHERE kind <> 'mail'") == [("of.the.next.release", "ready", 0)]


def test_other_queues_are_left_alone(store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(queue="slow"), mail(queue="default")])
    assert [job.queue for job in claim()] == ["default"]
    assert [job.queue for job in claim(queue="slow")] == ["slow"]
    assert claim() == []


def test_a_future_job_is_not_claimed_before_its_time(store: Store, claim: Claimer) -> None:
    store.enqueue(mail(run_at=datetime.now(UTC) + timedelta(hours=1)))
    assert store.move_due() == 0
    assert claim() == []


def test_a_job_whose_time_has_passed_is_ready_at_once(store: Store, claim: Claimer) -> None:
    store.enqueue(mail(run_at=datetime.now(UTC) - timedelta(hours=1)))
    assert len(claim()) == 1


def test_the_mover_brings_due_jobs_over_in_batches(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(run_at=datetime.now(UTC) + timedelta(hours=1)) for _ in range(5)])
    table.change("UPDATE {jobs} SET due_at = due_at - 7200000000")
    assert store.move_due(limit=3) == 3
    assert len(claim()) == 3
    assert store.move_due(limit=3) == 2
    assert len(claim()) == 2


def test_the_attempt_is_counted_in_the_claim_not_at_the_end(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    claim()
    assert table.rows("SELECT state, attempts, runs FROM {jobs}") == [("running", 1, 1)]


def test_finished_jobs_are_not_claimed_again(store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    assert settled(store, job, Done())
    assert claim() == []


def test_a_claim_of_nothing_gives_nothing(store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    assert store.claim("default", kinds=(), limit=5, worker="w1") == []
    assert claim(0) == []
    assert len(claim()) == 1


def test_a_backlog_is_drained_in_order_without_a_gap(store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key=str(number)) for number in range(250)])
    drained = []
    while jobs := claim(20):
        drained += [int(job.key or "") for job in jobs]
        assert all(store.settle([Settlement(job=job, outcome=Done()) for job in jobs]))
    assert drained == list(range(250))


def test_a_row_that_is_no_text_does_not_stop_the_poll(table: Database, store: Store, claim: Claimer) -> None:
    """Only SQLite takes invalid UTF-8 at all; the others are given what is no JSON."""
    store.enqueue_many([mail(key="bad"), mail(key="good")])
    if table.name == "sqlite":
        table.change("UPDATE {jobs} SET payload = CAST(X'ff00fe' AS TEXT) WHERE job_key = ?", (b"bad",))
    else:
        table.change("UPDATE {jobs} SET payload = ? WHERE job_key = ?", ("{not json", b"bad"))
    assert [job.key for job in claim()] == ["bad", "good"]
