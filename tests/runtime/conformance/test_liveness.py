"""Liveness by counters: rescue only from who stood still, and never from who is alive."""

from pathlib import Path

import pytest
from databases import SERVERS, Database, open_database
from runtime.conformance.conftest import Claimer, mail, settled, state_of

from cron2queue.runtime.jobs import Done, JobState, NewJob, Settlement, WorkerInfo
from cron2queue.runtime.store import Store


def worker(token: str) -> WorkerInfo:
    return WorkerInfo(token=token, host="höst", pid=4242, version="1.0", kinds=("mail",), queues=("default",))


def test_a_beat_raises_the_counter_by_one(store: Store) -> None:
    store.register_worker(worker("w1"))
    assert store.beats() == {"w1": 0}
    assert [store.beat("w1", rss_bytes=10**10, running=2), store.beat("w1", rss_bytes=10**10, running=2)] == [1, 2]
    assert store.beats() == {"w1": 2}


def test_registering_again_keeps_the_counter(store: Store) -> None:
    store.register_worker(worker("w1"))
    store.beat("w1")
    store.register_worker(worker("w1"))
    assert store.beats() == {"w1": 1}


def test_a_worker_whose_counter_moved_is_not_rescued_from(table: Database, store: Store, claim: Claimer) -> None:
    store.register_worker(worker("w1"))
    store.enqueue(mail())
    (job,) = claim()
    seen = store.beats()["w1"]
    store.beat("w1")
    assert store.rescue("w1", counter_seen=seen, by="w2") == []
    assert table.value("SELECT state FROM {jobs}") == "running"
    assert settled(store, job, Done())


def test_a_worker_that_stood_still_loses_all_its_jobs_and_each_counts_as_a_crash(
    table: Database, store: Store, claim: Claimer
) -> None:
    store.register_worker(worker("w1"))
    store.enqueue_many([mail(key=str(number)) for number in range(3)])
    claim(2, worker="w1")
    claim(1, worker="w2")
    rescued = store.rescue("w1", counter_seen=0, by="w2")
    assert [(each.state, each.crashes, each.kind) for each in rescued] == [(JobState.READY, 1, "mail")] * 2
    assert table.rows("SELECT state, crashes FROM {jobs} ORDER BY id") == [("ready", 1), ("ready", 1), ("running", 0)]
    assert table.rows("SELECT outcome, worker FROM {attempts}") == [("rescued", "w1")] * 2
    assert store.rescue("w1", counter_seen=0, by="w3") == []


@pytest.mark.parametrize("name", SERVERS)
def test_what_a_stopped_worker_has_locked_keeps_nobody_from_rescuing_the_rest(name: str, tmp_path: Path) -> None:
    """It was stopped within a transaction; whoever waited for its locks would miss beats of its own."""
    table = open_database(name, tmp_path)
    store, stopped = table.store(patience=0.1), table.store()
    store.register_worker(worker("w1"))
    store.enqueue_many([mail(), mail()])
    first, second = store.claim("default", kinds=("mail",), limit=2, worker="w1")
    session = stopped.sessions.open()
    stopped.sessions.begin(session)
    session.run("UPDATE {workers} SET beat_counter = beat_counter + 1 WHERE token = 'w1'")
    assert store.rescue("w1", counter_seen=0, by="w2") == []
    stopped.driver.rollback(session.raw)
    stopped.sessions.begin(session)
    session.run("UPDATE {jobs} SET priority = 7 WHERE id = ?", (first.id,))
    assert [each.id for each in store.rescue("w1", counter_seen=0, by="w2")] == [second.id]
    assert store.beats() == {"w1": -1}
    stopped.driver.rollback(session.raw)
    assert [each.id for each in store.rescue("w1", counter_seen=-1, by="w2")] == [first.id]
    assert (store.beats(), table.rows("SELECT state, crashes FROM {jobs}")) == ({}, [("ready", 1)] * 2)
    table.close()


def test_a_worker_that_was_rescued_from_is_told_so_by_its_next_beat(store: Store, claim: Claimer) -> None:
    store.register_worker(worker("w1"))
    store.enqueue(mail())
    claim()
    assert len(store.rescue("w1", counter_seen=0, by="w2")) == 1
    assert store.beat("w1") == 0


def test_a_worker_without_a_row_shows_up_as_long_as_it_holds_jobs(store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    claim(worker="lost")
    assert store.beats() == {"lost": -1}
    assert len(store.rescue("lost", counter_seen=-1, by="w2")) == 1
    assert store.beats() == {}


def test_a_worker_that_registered_meanwhile_is_not_taken_for_one_without_a_row(store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    claim(worker="w1")
    store.register_worker(worker("w1"))
    assert store.rescue("w1", counter_seen=-1, by="w2") == []


def test_a_retired_worker_beats_no_more(store: Store) -> None:
    store.register_worker(worker("w1"))
    assert store.retire_worker("w1")
    assert not store.retire_worker("w1")
    assert store.beats() == {}
    assert store.beat("w1") == 0


def test_a_job_that_takes_down_three_workers_is_dead(table: Database, store: Store, claim: Claimer) -> None:
    answer = store.enqueue(mail())
    for name in ("w1", "w2"):
        claim(worker=name)
        assert [each.state for each in store.rescue(name, counter_seen=-1, by="x")] == [JobState.READY]
    claim(worker="w3")
    assert [each.state for each in store.rescue("w3", counter_seen=-1, by="x")] == [JobState.DEAD]
    assert state_of(table, answer.public_id) == "dead"
    assert "worker" in table.value("SELECT message FROM {jobs}")
    counted = {each.series: each.n for each in store.tally.take()}
    assert counted == {"rescued": 3, "outcome:rescued": 3, "failed": 3, "retried": 2, "dead": 1}


def test_a_job_asked_to_stop_never_runs_again_after_a_rescue(table: Database, store: Store, claim: Claimer) -> None:
    answer = store.enqueue(mail(key="k"))
    claim(worker="w1")
    assert store.cancel(answer.public_id, by="user") == JobState.CANCEL_REQUESTED
    assert [each.state for each in store.rescue("w1", counter_seen=-1, by="w2")] == [JobState.CANCELLED]
    assert claim() == []
    assert not store.enqueue(mail(key="k")).duplicate


def test_a_live_worker_gives_back_what_it_lost_track_of_without_an_attempt(
    table: Database, store: Store, claim: Claimer
) -> None:
    store.enqueue_many([mail(key="known"), mail(key="lost")])
    known, _ = claim()
    assert store.reconcile("w1", {known.lease.token}) == 1
    assert table.rows("SELECT state, attempts, crashes FROM {jobs} ORDER BY id") == [("running", 1, 0), ("ready", 0, 0)]
    assert store.reconcile("w1", {known.lease.token}) == 0
    assert settled(store, known, Done())


def test_two_workers_of_one_name_do_not_finish_each_others_jobs(store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(), mail()])
    (mine,), (twins,) = claim(1), claim(1)
    assert store.reconcile("w1", {mine.lease.token, twins.lease.token}) == 0
    forged = Settlement(job=twins, outcome=Done())
    assert mine.lease.token != twins.lease.token
    assert store.settle([forged, Settlement(job=mine, outcome=Done())]) == [True, True]


def test_progress_never_goes_back_within_an_attempt(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    assert store.progress(job, 0.5, "reading")
    assert store.progress(job, 0.25, "writing")
    assert table.rows("SELECT progress, phase FROM {jobs}") == [(0.5, "writing")]
    assert store.progress(job, None, "resting")
    assert store.progress(job, 0.5, "resting")
    assert table.rows("SELECT progress, phase FROM {jobs}") == [(0.5, "resting")]
    assert store.progress(job, 7.0)
    assert table.rows("SELECT progress, phase FROM {jobs}") == [(1.0, "resting")]


def test_progress_starts_anew_with_the_next_attempt(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    store.progress(job, 0.5, "reading")
    store.release([job])
    claim()
    assert table.rows("SELECT progress, phase FROM {jobs}") == [(None, None)]


@pytest.mark.parametrize("fraction", [float("nan"), float("-inf"), -1.0])
def test_a_fraction_that_is_none_is_taken_as_nothing(table: Database, store: Store, claim: Claimer, fraction: float) -> None:
    store.enqueue(mail())
    (job,) = claim()
    assert store.progress(job, fraction, "x\0\ud800")
    assert not table.value("SELECT progress FROM {jobs}")


def test_progress_under_a_lost_lease_says_so(store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    store.rescue("w1", counter_seen=-1, by="w2")
    assert not store.progress(job, 0.5, "late")


def test_a_worker_of_many_kinds_can_register(store: Store) -> None:
    info = WorkerInfo(token="w9", host="h" * 5000, pid=1, version="v" * 500, kinds=[f"k{n}" for n in range(5000)], queues=["q"])
    store.register_worker(info)
    assert store.beat("w9") == 1


def test_unknown_kinds_do_not_hinder_a_rescue(store: Store) -> None:
    store.enqueue(NewJob(kind="other"))
    assert len(store.claim("default", kinds=["other"], limit=1, worker="w1")) == 1
    assert len(store.rescue("w1", counter_seen=-1, by="w2")) == 1
