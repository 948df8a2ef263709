"""Limits, pauses: global, kept in the database, and never in the way of other jobs."""

import time

import pytest
from databases import Database
from runtime.conformance.conftest import Claimer, mail, settled

from cron2queue.errors import UsageError
from cron2queue.runtime.jobs import Crashed, Done, NewJob, RetryAt
from cron2queue.runtime.store import Store


def test_a_paused_queue_gives_nothing_to_any_worker_and_goes_on_after(table: Database, store: Store, claim: Claimer) -> None:
    other = table.store()
    store.enqueue_many([mail(), mail()])
    assert len(claim(1, by=other)) == 1
    assert store.pause("default", by="ops")
    assert not store.pause("default", by="ops")
    assert claim(by=other) == []
    assert claim() == []
    store.enqueue(mail(queue="other"))
    assert len(claim(queue="other")) == 1
    assert other.resume("default", by="ops")
    assert not other.resume("default", by="ops")
    assert len(claim()) == 1


def test_what_runs_in_a_paused_queue_can_finish(store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    store.pause("default", by="ops")
    assert settled(store, job, Done())


def test_a_queue_runs_no_more_jobs_at_one_time_than_its_limit(table: Database, store: Store, claim: Claimer) -> None:
    other = table.store()
    store.enqueue_many([mail() for _ in range(9)])
    other.set_limit("queue", "default", by="ops", concurrency=3)
    first = claim(2)
    second = claim(5, worker="w2", by=other)
    assert (len(first), len(second)) == (2, 1)
    assert claim(5) == []
    assert settled(store, first[0], RetryAt(delay_seconds=99))
    assert len(claim(5)) == 1
    store.set_limit("queue", "default", by="ops", concurrency=None)
    assert len(claim(9)) == 5


def test_a_job_asked_to_stop_still_counts_until_it_has(store: Store, claim: Claimer) -> None:
    store.set_limit("queue", "default", by="ops", concurrency=1)
    first = store.enqueue(mail())
    store.enqueue(mail())
    claim()
    store.cancel(first.public_id, by="ops")
    assert claim() == []


def test_a_kind_runs_no_more_jobs_at_one_time_than_its_limit_and_others_pass(
    table: Database, store: Store, claim: Claimer
) -> None:
    store.set_limit("kind", "mail", by="ops", concurrency=2)
    store.enqueue_many([mail(priority=1) for _ in range(30)])
    store.enqueue_many([NewJob(kind="report", priority=50) for _ in range(3)])
    jobs = claim(10)
    assert [job.kind for job in jobs] == ["mail", "mail", "report", "report", "report"]
    assert table.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'blocked'") == 28
    assert settled(store, jobs[0], Done())
    assert [job.kind for job in claim(10)] == ["mail"]


def test_a_kind_is_limited_over_all_queues(store: Store, claim: Claimer) -> None:
    store.set_limit("kind", "mail", by="ops", concurrency=1)
    store.enqueue_many([mail(queue="a"), mail(queue="b")])
    assert len(claim(queue="a")) == 1
    assert claim(queue="b") == []


@pytest.mark.parametrize("end", [Done(), Crashed(reason="x"), RetryAt(delay_seconds=60)], ids=lambda end: type(end).__name__)
def test_every_end_of_an_attempt_frees_its_slot(store: Store, claim: Claimer, end: Done | Crashed | RetryAt) -> None:
    store.set_limit("kind", "mail", by="ops", concurrency=1)
    store.enqueue_many([mail(max_attempts=1), mail()])
    (job,) = claim()
    assert settled(store, job, end)
    assert len(claim()) == 1


def test_a_rescue_frees_the_slots_of_a_lost_worker(store: Store, claim: Claimer) -> None:
    store.set_limit("kind", "mail", by="ops", concurrency=1)
    store.enqueue_many([mail(max_attempts=1), mail()])
    claim(worker="w1")
    assert claim(worker="w2") == []
    store.rescue("w1", counter_seen=-1, by="w2")
    assert len(claim(worker="w2")) == 1


def test_blocked_jobs_come_back_by_priority(store: Store, claim: Claimer) -> None:
    store.set_limit("kind", "mail", by="ops", concurrency=1)
    store.enqueue_many([mail(key=name, priority=priority) for name, priority in (("a", 1), ("b", 9), ("c", 5))])
    (job,) = claim()
    assert claim() == []
    assert settled(store, job, Done())
    assert [each.key for each in claim()] == ["c"]


def test_every_key_has_a_limit_of_its_own_under_the_star(store: Store, claim: Claimer) -> None:
    store.set_limit("key", "*", by="ops", concurrency=2)
    store.set_limit("key", "vip", by="ops", concurrency=3)
    store.enqueue_many([mail(limit_key=key) for key in ("a", "b", "vip") for _ in range(5)])
    jobs = claim(50)
    assert sorted(str(job.limit_key) for job in jobs) == ["a", "a", "b", "b", "vip", "vip", "vip"]
    done = next(job for job in jobs if job.limit_key == "b")
    assert settled(store, done, Done())
    assert [job.limit_key for job in claim(50)] == ["b"]


def test_a_limit_by_key_looks_at_the_jobs_own_key_where_it_has_no_other(store: Store, claim: Claimer) -> None:
    store.set_limit("key", "order 7", by="ops", concurrency=1)
    store.enqueue_many([mail(key="order 7"), NewJob(kind="report", key="order 7"), mail(key="order 8")])
    assert [job.key for job in claim()] == ["order 7", "order 8"]


def test_jobs_without_a_key_are_not_under_the_star(store: Store, claim: Claimer) -> None:
    store.set_limit("key", "*", by="ops", concurrency=1)
    store.enqueue_many([mail() for _ in range(4)])
    assert len(claim()) == 4


def test_more_room_lets_held_jobs_go_at_once(store: Store, claim: Claimer) -> None:
    store.set_limit("kind", "mail", by="ops", concurrency=1)
    store.enqueue_many([mail() for _ in range(6)])
    assert len(claim()) == 1
    store.set_limit("kind", "mail", by="ops", concurrency=3)
    assert len(claim()) == 2
    store.set_limit("kind", "mail", by="ops", concurrency=None)
    assert len(claim()) == 3


def test_a_limit_of_nothing_stops_a_kind(store: Store, claim: Claimer) -> None:
    store.set_limit("kind", "mail", by="ops", concurrency=0)
    store.enqueue(mail())
    assert claim() == []


def test_a_rate_lets_a_burst_start_and_then_as_many_as_the_time_gives(table: Database, store: Store, claim: Claimer) -> None:
    store.set_limit("kind", "mail", by="ops", rate=0.001, burst=3)
    store.enqueue_many([mail() for _ in range(5)])
    store.enqueue(NewJob(kind="report"))
    assert [job.kind for job in claim(50)] == ["mail", "mail", "mail", "report"]
    assert claim(50) == []
    waits = [row[0] / 1e6 for row in table.rows("SELECT due_at - {now} FROM {jobs} WHERE state = 'scheduled' ORDER BY due_at")]
    assert [round(wait / 1000) for wait in waits] == [1, 2]
    table.change("UPDATE {limits} SET refilled_at = refilled_at - 1000000000")
    table.change("UPDATE {jobs} SET due_at = 0 WHERE state = 'scheduled'")
    assert store.move_due() == 2
    assert len(claim(50)) == 1


def test_a_bucket_never_holds_more_than_its_burst(table: Database, store: Store, claim: Claimer) -> None:
    store.set_limit("kind", "mail", by="ops", rate=100, burst=2)
    store.enqueue_many([mail() for _ in range(9)])
    claim(1)
    table.change("UPDATE {limits} SET refilled_at = 0")
    assert len(claim(9)) == 2


def test_a_paused_kind_waits_for_its_time_and_others_pass(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(priority=1) for _ in range(3)])
    store.enqueue(NewJob(kind="report"))
    store.pause_kind("mail", 3600)
    assert [job.kind for job in claim()] == ["report"]
    assert table.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'scheduled'") == 3
    table.change("UPDATE {limits} SET paused_until = 0")
    table.change("UPDATE {jobs} SET due_at = 0 WHERE state = 'scheduled'")
    store.forget_controls()
    assert store.move_due() == 3
    assert len(claim()) == 3


def test_a_pause_that_has_ended_leaves_no_trace_on_claims(table: Database, store: Store, claim: Claimer) -> None:
    store.pause_kind("mail", 3600)
    assert store.controls().touches(["mail"])
    table.change("UPDATE {limits} SET paused_until = 1")
    store.forget_controls()
    assert not store.controls().touches(["mail"])
    store.pause_kind("mail", 0.001)
    store.controls()
    time.sleep(0.002)  # the pause itself, not a race
    assert not store.controls().touches(["mail"])


def test_a_shorter_pause_does_not_end_a_longer_one(table: Database, store: Store) -> None:
    store.pause_kind("mail", 3600)
    store.pause_kind("mail", 1)
    assert table.value("SELECT paused_until - {now} FROM {limits}") > 3_000_000_000


def test_a_pause_of_a_kind_can_be_ended(store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    store.pause_kind("mail", 3600)
    assert claim() == []
    assert store.resume_kind("mail", by="ops")
    store.move_due()
    assert len(claim()) == 1
    assert not store.resume_kind("mail", by="ops")


def test_a_retry_that_pauses_its_kind_pauses_it_for_everybody(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(), mail()])
    (job,) = claim(1)
    assert settled(store, job, RetryAt(delay_seconds=120, pause_kind_seconds=120))
    assert claim() == []
    assert claim(by=table.store()) == []


def test_a_lost_lease_pauses_nothing(store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(), mail()])
    (job,) = claim(1)
    store.rescue("w1", counter_seen=-1, by="w2")
    assert not settled(store, job, RetryAt(pause_kind_seconds=3600))
    assert len(claim()) == 2


def test_settling_and_claiming_keeps_to_the_limits(store: Store, claim: Claimer) -> None:
    from cron2queue.runtime.jobs import Settlement

    store.set_limit("kind", "mail", by="ops", concurrency=1)
    store.set_limit("queue", "default", by="ops", concurrency=2)
    store.enqueue_many([mail() for _ in range(3)])
    jobs = claim()
    for _ in range(2):
        ends = [Settlement(job=job, outcome=Done()) for job in jobs]
        held, jobs = store.settle_and_claim(ends, "default", kinds=("mail",), limit=9, worker="w1")
        assert (held, len(jobs)) == ([True], 1)


@pytest.mark.parametrize(
    ("scope", "name", "values"),
    [
        ("planet", "x", {"concurrency": 1}), ("queue", "x", {"rate": 1}), ("key", "x", {"rate": 1}),
        ("kind", "x", {"depth": 1}),
        ("kind", "x", {"rate": 0}), ("kind", "x", {"concurrency": -1}), ("queue", "a b", {"concurrency": 1}),
    ],
)  # fmt: skip
def test_a_limit_that_makes_no_sense_is_refused(
    sqlite_database: Database, scope: str, name: str, values: dict[str, int]
) -> None:
    with pytest.raises(UsageError):
        sqlite_database.store().set_limit(scope, name, by="ops", **values)  # type: ignore[arg-type]
