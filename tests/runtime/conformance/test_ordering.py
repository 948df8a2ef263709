"""Strict order by key: one at a time, in order, even through retries, deaths and cancels."""

from datetime import UTC, datetime, timedelta

import pytest
from databases import Database
from runtime.conformance.conftest import Claimer, mail, settled, state_of

from cron2queue.runtime.jobs import Crashed, Done, GiveUp, JobState, Outcome, Released, RetryAt
from cron2queue.runtime.store import Store


def ordered(count: int, key: str = "customer 7", **fields: object) -> list[object]:
    return [mail(key=f"{key}/{number}", ordering_key=key, **fields) for number in range(count)]


def names(jobs: list[object]) -> list[str]:
    return [job.key for job in jobs]  # type: ignore[attr-defined]


def test_jobs_of_one_key_run_one_at_a_time_in_order(store: Store, claim: Claimer) -> None:
    for job in ordered(4):
        store.enqueue(job)  # type: ignore[arg-type]
    seen = []
    while jobs := claim():
        assert len(jobs) == 1
        assert claim() == []
        seen += names(jobs)  # type: ignore[arg-type]
        assert settled(store, jobs[0], Done())
    assert seen == [f"customer 7/{number}" for number in range(4)]


def test_a_bulk_keeps_the_order_of_each_key(store: Store, claim: Claimer) -> None:
    jobs = [job for pair in zip(ordered(3, "a"), ordered(3, "b"), strict=True) for job in pair]
    store.enqueue_many([*jobs, mail(key="free")])  # type: ignore[list-item]
    assert names(claim()) == ["a/0", "b/0", "free"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "outcome", [RetryAt(delay_seconds=60), Crashed(reason="x"), Released()], ids=lambda each: type(each).__name__
)
def test_a_job_that_is_to_run_again_keeps_its_turn(store: Store, claim: Claimer, outcome: Outcome) -> None:
    store.enqueue_many(ordered(2))  # type: ignore[arg-type]
    (first,) = claim()
    assert settled(store, first, outcome)
    store.move_due()
    assert all(job.id == first.id for job in claim())


@pytest.mark.parametrize("outcome", [Done(), GiveUp(reason="x")], ids=lambda each: type(each).__name__)
def test_a_job_that_has_ended_passes_its_turn_on(store: Store, claim: Claimer, outcome: Outcome) -> None:
    store.enqueue_many(ordered(2))  # type: ignore[arg-type]
    (first,) = claim()
    assert settled(store, first, outcome)
    assert names(claim()) == ["customer 7/1"]  # type: ignore[arg-type]


def test_priority_does_not_overtake_within_a_key(store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key="first", ordering_key="o", priority=9), mail(key="second", ordering_key="o", priority=1)])
    assert names(claim()) == ["first"]  # type: ignore[arg-type]


def test_a_delayed_job_holds_back_those_behind_it(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail(key="later", ordering_key="o", run_at=datetime.now(UTC) + timedelta(hours=1)))
    store.enqueue(mail(key="behind", ordering_key="o"))
    assert claim() == []
    table.change("UPDATE {jobs} SET due_at = 0 WHERE due_at IS NOT NULL")
    store.move_due()
    assert names(claim()) == ["later"]  # type: ignore[arg-type]


def test_a_blocked_job_with_a_time_of_its_own_waits_for_both(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail(key="first", ordering_key="o"))
    second = store.enqueue(mail(key="second", ordering_key="o", run_at=datetime.now(UTC) + timedelta(hours=1)))
    assert state_of(table, second.public_id) == "blocked"
    assert settled(store, claim()[0], Done())
    assert state_of(table, second.public_id) == "scheduled"


def test_cancelling_the_job_whose_turn_it_is_lets_the_next_one_on(table: Database, store: Store, claim: Claimer) -> None:
    first, second, third = store.enqueue_many(ordered(3))  # type: ignore[arg-type]
    assert store.cancel(second.public_id, by="ops") == JobState.CANCELLED
    assert store.cancel(first.public_id, by="ops") == JobState.CANCELLED
    assert state_of(table, third.public_id) == "ready"
    assert names(claim()) == ["customer 7/2"]  # type: ignore[arg-type]


def test_the_turn_outlives_a_rescue(store: Store, claim: Claimer) -> None:
    store.enqueue_many(ordered(2))  # type: ignore[arg-type]
    (first,) = claim(worker="w1")
    store.rescue("w1", counter_seen=-1, by="w2")
    assert [job.id for job in claim(worker="w2")] == [first.id]


def test_a_requeued_job_waits_for_its_turn_before_later_ones(table: Database, store: Store, claim: Claimer) -> None:
    answers = store.enqueue_many(ordered(3))  # type: ignore[arg-type]
    assert settled(store, claim()[0], GiveUp(reason="x"))
    (second,) = claim()
    assert store.requeue([answers[0].public_id], by="ops") == 1
    assert state_of(table, answers[0].public_id) == "blocked"
    assert settled(store, second, Done())
    assert names(claim()) == ["customer 7/0"]  # type: ignore[arg-type]


def test_a_turn_that_nobody_passed_on_is_found_by_the_sweep(table: Database, store: Store, claim: Claimer) -> None:
    """As after a process that was killed between its commit and its second look."""
    store.enqueue_many(ordered(2))  # type: ignore[arg-type]
    table.change("UPDATE {jobs} SET state = 'succeeded', turn = NULL WHERE turn IS NOT NULL")
    assert claim() == []
    assert store.move_due() == 1
    assert names(claim()) == ["customer 7/1"]  # type: ignore[arg-type]


def test_many_blocked_keys_are_all_swept_over_several_moves(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([job for key in range(70) for job in ordered(2, f"key {key}")])  # type: ignore[misc]
    table.change("UPDATE {jobs} SET state = 'succeeded', turn = NULL WHERE turn IS NOT NULL")
    assert sum(store.move_due() for _ in range(3)) == 70
    assert len(claim(100)) == 70


def test_keys_that_differ_in_any_byte_do_not_wait_for_each_other(store: Store, claim: Claimer) -> None:
    keys = ["k", "K", "k ", "é", "e\u0301", "k\0", "\udcff"]
    store.enqueue_many([mail(ordering_key=key) for key in keys])
    assert len(claim()) == len(keys)


def test_the_table_itself_refuses_a_second_job_with_the_same_turn(table: Database, store: Store) -> None:
    store.enqueue_many(ordered(2))  # type: ignore[arg-type]
    from cron2queue.runtime.trouble import StatementFailed

    query = "SELECT held_by FROM {jobs} WHERE held_by IS NOT NULL"
    turn = table.value(query)
    with pytest.raises(StatementFailed):
        table.change("UPDATE {jobs} SET turn = ? WHERE state = 'blocked'", (turn,))
