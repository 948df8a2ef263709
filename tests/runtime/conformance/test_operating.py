"""Cancel, requeue, prune: what people do, and what is written down of it."""

import threading
from datetime import UTC, datetime, timedelta

import pytest
from databases import Database
from runtime.conformance.conftest import Claimer, mail, settled, state_of

from cron2queue.errors import UsageError
from cron2queue.runtime.jobs import Cancelled, Crashed, Done, GiveUp, JobState, Outcome, Released, RetryAt
from cron2queue.runtime.retention import Retention
from cron2queue.runtime.store import Store


def test_a_job_that_has_not_begun_is_cancelled_at_once(table: Database, store: Store, claim: Claimer) -> None:
    ready = store.enqueue(mail(key="k"))
    later = store.enqueue(mail(run_at=datetime.now(UTC) + timedelta(hours=1)))
    assert store.cancel(ready.public_id, by="user") == JobState.CANCELLED
    assert store.cancel(later.public_id, by="user") == JobState.CANCELLED
    assert claim() == []
    assert store.move_due() == 0
    assert not store.enqueue(mail(key="k")).duplicate
    assert table.rows("SELECT cancel_requested_by, due_at FROM {jobs} WHERE id = ?", (later.id,)) == [("user", None)]


def test_a_running_job_is_asked_to_stop_and_its_worker_hears_of_it(table: Database, store: Store, claim: Claimer) -> None:
    answer = store.enqueue(mail())
    store.enqueue(mail())
    jobs = claim()
    assert store.cancel_requested(jobs) == set()
    assert store.cancel(answer.public_id, by="user") == JobState.CANCEL_REQUESTED
    assert store.cancel(answer.public_id, by="user") == JobState.CANCEL_REQUESTED
    assert store.cancel_requested(jobs) == {answer.id}
    assert settled(store, jobs[0], Cancelled(message="stopped at page 3"))
    assert table.rows("SELECT state, message FROM {jobs} WHERE id = ?", (answer.id,)) == [("cancelled", "stopped at page 3")]


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Done(), "succeeded"), (GiveUp(reason="x"), "dead"), (RetryAt(delay_seconds=5), "cancelled"),
        (Crashed(reason="x"), "cancelled"), (Released(), "cancelled"), (Cancelled(), "cancelled"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)  # fmt: skip
def test_a_job_asked_to_stop_ends_for_good_whatever_its_attempt_ends_with(
    table: Database, store: Store, claim: Claimer, outcome: Outcome, state: str
) -> None:
    answer = store.enqueue(mail(key="k"))
    (job,) = claim()
    store.cancel(answer.public_id, by="user")
    assert settled(store, job, outcome)
    assert state_of(table, answer.public_id) == state
    store.move_due()
    assert claim() == []
    assert table.value("SELECT finished_at FROM {jobs}") is not None
    assert not store.enqueue(mail(key="k")).duplicate


def test_only_its_owner_can_cancel_a_job_and_others_do_not_even_learn_of_it(table: Database, store: Store) -> None:
    answer = store.enqueue(mail(owner="anna"))
    for stranger in ("bert", "Anna", "anna ", "", "%"):
        assert store.cancel(answer.public_id, by=stranger, principal=stranger) is None
    assert state_of(table, answer.public_id) == "ready"
    assert store.cancel(answer.public_id, by="anna", principal="anna") == JobState.CANCELLED


def test_an_unknown_job_cannot_be_cancelled(store: Store) -> None:
    assert store.cancel("0" * 32, by="x") is None
    assert store.cancel("'; --", by="x") is None


def test_a_dead_job_comes_back_with_its_attempts_anew_and_its_history(table: Database, store: Store, claim: Claimer) -> None:
    answer = store.enqueue(mail(max_attempts=1))
    assert settled(store, claim()[0], RetryAt(message="failed"), delay=1)
    assert state_of(table, answer.public_id) == "dead"
    assert store.requeue([answer.public_id], by="ops") == 1
    (job,) = claim()
    assert (job.attempt, job.run, job.public_id) == (1, 2, answer.public_id)
    assert settled(store, job, Done())
    assert table.rows("SELECT number, run, outcome FROM {attempts} ORDER BY run") == [(1, 1, "retry"), (1, 2, "done")]


def test_dead_jobs_come_back_by_kind_queue_and_time(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key=str(number), max_attempts=1) for number in range(4)])
    for job in claim():
        settled(store, job, GiveUp(reason="x"))
    table.change("UPDATE {jobs} SET finished_at = finished_at - 7200000000 WHERE job_key = ?", (b"0",))
    assert store.requeue(kind="report", by="ops") == 0
    assert store.requeue(queue="other", by="ops") == 0
    assert store.requeue(since=datetime.now(UTC) - timedelta(hours=1), limit=2, by="ops") == 2
    assert store.requeue(kind="mail", queue="default", by="ops") == 2
    with pytest.raises(UsageError):
        store.requeue(by="ops")


def test_a_requeue_can_be_spread_over_time(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail() for _ in range(4)])
    for job in claim():
        settled(store, job, GiveUp(reason="x"))
    assert store.requeue(kind="mail", spread=400, by="ops") == 4
    waits = [row[0] / 1e6 for row in table.rows("SELECT run_at - {now} FROM {jobs} ORDER BY run_at")]
    assert [round(wait / 100) for wait in waits] == [0, 1, 2, 3]
    assert len(claim()) == 1


def test_two_operators_requeue_the_same_jobs_and_each_job_comes_back_once(
    table: Database, store: Store, claim: Claimer
) -> None:
    orders = [{}, {"ordering_key": "o"}, {}, {"ordering_key": "p"}]
    answers = store.enqueue_many([mail(**orders[number % 4]) for number in range(40)])
    while jobs := claim():
        for job in jobs:
            settled(store, job, GiveUp(reason="x"))
    ids = [answer.public_id for answer in answers]
    stores = {"anna": table.store(), "bert": table.store()}
    table.value("SELECT {now}")
    barrier, counts, troubles = threading.Barrier(2), dict.fromkeys(stores, 0), []

    def act(by: str) -> None:
        try:
            barrier.wait()
            counts[by] = stores[by].requeue(ids if by == "anna" else ids[::-1], by=by, spread=0 if by == "anna" else 60)
        except BaseException as trouble:  # told below, in the test's own thread
            troubles.append(trouble)

    threads = [threading.Thread(target=act, args=(by,)) for by in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == [] and sum(counts.values()) == 40
    acts = table.rows("SELECT done_by, target FROM {operations} WHERE verb = 'requeue'")
    assert sorted(target for _, target in acts) == sorted(ids)
    assert {by: sum(1 for each, _ in acts if each == by) for by in stores} == counts
    assert int(table.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'dead'")) == 0


def test_what_is_not_dead_is_not_requeued(store: Store, claim: Claimer) -> None:
    answers = store.enqueue_many([mail(), mail()])
    settled(store, claim(1)[0], Done())
    assert store.requeue([answer.public_id for answer in answers] + ["f" * 32], by="ops") == 0


def test_a_requeued_key_that_was_taken_meanwhile_does_not_stop_the_others(store: Store, claim: Claimer) -> None:
    answers = store.enqueue_many([mail(key="a"), mail(key="b")])
    for job in claim():
        settled(store, job, GiveUp(reason="x"))
    store.enqueue(mail(key="a"))
    assert store.requeue([answer.public_id for answer in answers], by="ops") == 2
    assert sorted(str(job.key) for job in claim()) == ["a", "a", "b"]


def test_every_act_of_an_operator_is_written_down(table: Database, store: Store, claim: Claimer) -> None:
    answer = store.enqueue(mail())
    settled(store, claim()[0], GiveUp(reason="x"))
    store.requeue([answer.public_id], by="anna\0\ud800" + "x" * 500)
    store.cancel(answer.public_id, by="bert")
    store.pause("default", by="carl")
    store.resume("default", by="carl")
    store.set_limit("kind", "mail", by="dora", concurrency=2)
    store.set_limit("kind", "mail", by="dora", concurrency=2)
    acts = table.rows("SELECT verb, target, done_by FROM {operations} ORDER BY id")
    assert [row[0] for row in acts] == ["requeue", "cancel", "pause", "resume", "limit"]
    assert acts[0][1] == acts[1][1] == answer.public_id
    assert [row[2][:4] for row in acts] == ["anna", "bert", "carl", "carl", "dora"]


def test_pruning_takes_what_is_old_by_state_and_nothing_else(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key=str(number)) for number in range(6)])
    jobs = claim(4)
    for job, end in zip(jobs, (Done(), Done(), GiveUp(reason="x"), Cancelled()), strict=True):
        settled(store, job, end)
    table.change("UPDATE {jobs} SET finished_at = finished_at - 1728000000000 WHERE id <> ?", (jobs[1].id,))
    assert store.prune(Retention(succeeded=14, cancelled=None, dead=30)) == {"jobs": 1, "inbox": 0, "operations": 0}
    assert store.prune(Retention(succeeded=None, cancelled=14, dead=14))["jobs"] == 2
    assert [row[0] for row in table.rows("SELECT state FROM {jobs} ORDER BY id")] == ["succeeded", "ready", "ready"]
    assert table.rows("SELECT job_id FROM {attempts}") == [(jobs[1].id,)]


def test_pruning_goes_through_more_than_one_batch(table: Database, store: Store) -> None:
    store.enqueue_many([mail() for _ in range(1203)])
    table.change("UPDATE {jobs} SET state = 'dead', finished_at = 1 WHERE MOD(id, 3) = 0" if table.name != "sqlite" else
                 "UPDATE {jobs} SET state = 'dead', finished_at = 1 WHERE id % 3 = 0")  # fmt: skip
    table.change("UPDATE {jobs} SET state = 'succeeded', finished_at = 1 WHERE state = 'ready'")
    assert store.prune(Retention(succeeded=1, dead=None))["jobs"] == 802
    assert table.value("SELECT COUNT(*) FROM {jobs}") == 401
    assert store.prune(Retention(dead=0))["jobs"] == 401


def test_an_id_is_never_given_twice_even_when_the_last_row_was_pruned(table: Database, store: Store, claim: Claimer) -> None:
    first = store.enqueue(mail())
    settled(store, claim()[0], Done())
    table.change("UPDATE {jobs} SET finished_at = 1")
    assert store.prune()["jobs"] == 1
    assert store.enqueue(mail()).id > first.id
