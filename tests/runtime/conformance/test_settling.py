"""Settle: one end for each attempt, by its owner only."""

from dataclasses import replace
from typing import Any

import pytest
from databases import Database
from runtime.conformance.conftest import KINDS, Claimer, mail, settled, state_of

from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import (
    AttemptRecord,
    Cancelled,
    Crashed,
    Done,
    GiveUp,
    Outcome,
    Released,
    RetryAt,
    Settlement,
)
from cron2queue.runtime.store import Store

OUTCOMES: list[Outcome] = [
    Done(), RetryAt(delay_seconds=1), GiveUp(reason="no"), Cancelled(), Crashed(reason="signal 9"), Released(),
]  # fmt: skip


def test_a_job_that_is_done_has_succeeded_and_keeps_its_result(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    assert settled(store, job, Done(result_ref="s3://x", message="sent"))
    row = table.rows("SELECT state, result_ref, message, progress, lease, worker FROM {jobs}")
    assert row == [("succeeded", "s3://x", "sent", 1.0, None, None)]
    assert table.value("SELECT finished_at FROM {jobs}") >= table.value("SELECT started_at FROM {jobs}")


def test_a_retry_is_scheduled_and_comes_back_with_the_next_attempt(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    assert settled(store, job, RetryAt(message="busy"), delay=60)
    assert table.rows("SELECT state, message, attempts FROM {jobs}") == [("scheduled", "busy", 1)]
    wait = table.value("SELECT due_at - {now} FROM {jobs}")
    assert 50_000_000 < wait <= 60_000_000
    table.change("UPDATE {jobs} SET due_at = due_at - 60000000")
    assert store.move_due() == 1
    (again,) = claim()
    assert (again.attempt, again.run, again.idempotency_key) == (2, 2, job.idempotency_key)
    assert again.lease.token != job.lease.token


def test_a_retry_names_its_own_time(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    assert settled(store, claim()[0], RetryAt(delay_seconds=3600), delay=1)
    assert table.value("SELECT due_at - {now} FROM {jobs}") > 3_500_000_000


def test_when_its_attempts_are_used_up_a_job_is_dead(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail(max_attempts=2))
    assert settled(store, claim()[0], RetryAt(), delay=0)
    store.move_due()
    assert settled(store, claim()[0], RetryAt(message="still busy"), delay=0)
    assert table.rows("SELECT state, attempts, message, due_at FROM {jobs}") == [("dead", 2, "still busy", None)]
    assert table.value("SELECT finished_at FROM {jobs}") is not None


def test_giving_up_is_dead_at_once(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    assert settled(store, claim()[0], GiveUp(reason="no such order"))
    assert table.rows("SELECT state, message FROM {jobs}") == [("dead", "no such order")]


def test_three_crashes_make_a_job_dead_however_many_attempts_are_left(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail(max_attempts=100))
    for crashes in (1, 2):
        assert settled(store, claim()[0], Crashed(reason="signal 11"))
        assert table.rows("SELECT state, crashes FROM {jobs}") == [("ready", crashes)]
    assert settled(store, claim()[0], Crashed(reason="signal 11"))
    assert table.rows("SELECT state, crashes, message FROM {jobs}") == [("dead", 3, "signal 11")]


def test_a_crash_with_a_delay_waits(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    assert settled(store, claim()[0], Crashed(reason="oom"), delay=30)
    assert table.rows("SELECT state, crashes FROM {jobs}") == [("scheduled", 1)]
    assert claim() == []


def test_a_released_job_uses_no_attempt_and_is_first_again(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key="a"), mail(key="b")])
    (job,) = claim(1)
    assert store.release([job]) == [True]
    assert table.rows("SELECT state, attempts, crashes FROM {jobs} WHERE job_key = ?", (b"a",)) == [("ready", 0, 0)]
    (again,) = claim(1)
    assert (again.key, again.attempt, again.run) == ("a", 1, 2)
    assert table.value("SELECT COUNT(*) FROM {attempts}") == 0


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_nothing_is_written_under_a_lease_that_was_lost(
    table: Database, store: Store, claim: Claimer, outcome: Outcome
) -> None:
    store.enqueue(mail())
    (stale,) = claim()
    assert len(store.rescue("w1", counter_seen=-1, by="w2")) == 1
    (owner,) = claim(worker="w2")
    before = table.rows("SELECT state, attempts, crashes, lease, worker, message FROM {jobs}")
    assert not settled(store, stale, outcome)
    assert table.rows("SELECT state, attempts, crashes, lease, worker, message FROM {jobs}") == before
    assert table.value("SELECT COUNT(*) FROM {attempts}") == 1
    assert settled(store, owner, Done())


def test_a_zombie_cannot_finish_what_was_rescued_and_done_by_another(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (zombie,) = claim(worker="w1")
    store.rescue("w1", counter_seen=-1, by="w2")
    assert not settled(store, zombie, Done())
    (owner,) = claim(worker="w2")
    assert settled(store, owner, Done(message="by w2"))
    assert not settled(store, zombie, Done(message="by w1"))
    assert table.rows("SELECT state, message FROM {jobs}") == [("succeeded", "by w2")]


def test_in_a_batch_each_lease_is_looked_at_by_itself(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail() for _ in range(6)])
    jobs = claim()
    assert settled(store, jobs[2], GiveUp(reason="x"))
    assert settled(store, jobs[4], Crashed(reason="x"))
    held = store.settle([Settlement(job=job, outcome=Done()) for job in jobs])
    assert held == [True, True, False, True, False, True]
    states = [row[0] for row in table.rows("SELECT state FROM {jobs} ORDER BY id")]
    assert states == ["succeeded", "succeeded", "dead", "succeeded", "ready", "succeeded"]


def test_a_batch_may_hold_every_kind_of_end(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail() for _ in OUTCOMES])
    held = store.settle([Settlement(job=job, outcome=end) for job, end in zip(claim(), OUTCOMES, strict=True)])
    assert held == [True] * len(OUTCOMES)
    states = [row[0] for row in table.rows("SELECT state FROM {jobs} ORDER BY id")]
    assert states == ["succeeded", "scheduled", "dead", "cancelled", "ready", "ready"]


def test_settling_the_same_end_again_under_the_same_lease_says_that_it_holds(store: Store, claim: Claimer) -> None:
    """So that a settle whose COMMIT was lost can be repeated, and says the truth."""
    store.enqueue(mail())
    (job,) = claim()
    assert settled(store, job, Done())
    assert settled(store, job, Done())
    assert not settled(store, job, GiveUp(reason="something else"))


def test_settling_and_claiming_in_one_transaction_does_both(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key=str(number)) for number in range(5)])
    jobs = claim(2)
    ends = [Settlement(job=jobs[0], outcome=Done()), Settlement(job=jobs[1], outcome=RetryAt(delay_seconds=60))]
    held, more = store.settle_and_claim(ends, "default", kinds=("mail",), limit=2, worker="w1")
    assert held == [True, True]
    assert [job.key for job in more] == ["2", "3"]
    states = [row[0] for row in table.rows("SELECT state FROM {jobs} ORDER BY id")]
    assert states == ["succeeded", "scheduled", "running", "running", "ready"]


def test_each_finished_attempt_is_kept(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail())
    (job,) = claim()
    kept = AttemptRecord(
        wait_seconds=0.5, run_seconds=2.25, exit_status=75, signal=None, max_rss_bytes=5_000_000_000, output_tail="last words",
        outcome_name="timeout",
    )  # fmt: skip
    outcome = RetryAt(delay_seconds=0, message="for users", diagnostic="for operators")
    store.settle([Settlement(job=job, outcome=outcome, record=kept)])
    store.move_due()
    settled(store, claim(worker="w2")[0], Done())
    columns = (
        "number, run, worker, outcome, exit_status, wait_seconds, run_seconds, max_rss_bytes, message, diagnostic, output_tail"
    )
    first, second = table.rows(f"SELECT {columns} FROM {{attempts}} ORDER BY run")
    assert first == (1, 1, "w1", "timeout", 75, 0.5, 2.25, 5_000_000_000, "for users", "for operators", "last words")
    assert second[:4] == (2, 2, "w2", "done")
    assert table.value("SELECT ended_at - started_at FROM {attempts} WHERE run = 1") == 2_250_000


ATTEMPT = (
    "job_id, run, number, lease, worker, outcome, exit_status, signal_number, wait_seconds, run_seconds, max_rss_bytes, "
    "message, diagnostic, output_tail"
)


@pytest.mark.parametrize("ran", [0.0, 0.000012, 2.25, 86_400.5, None])
def test_of_an_end_with_nothing_to_say_the_same_is_kept_as_of_any_other(
    table: Database, store: Store, claim: Claimer, ran: float | None
) -> None:
    """Most attempts end so; their records are written in a way of their own."""
    store.enqueue_many([mail(), mail(), mail()])
    told, *silent = claim()
    store.settle([Settlement(job=told, outcome=Done(message="x"), record=AttemptRecord(run_seconds=ran))])
    plain = AttemptRecord(run_seconds=ran, wait_seconds=silent[0].waited_seconds, outcome_name="done")
    assert store.settle([Settlement(job=silent[0], outcome=Done(), record=plain)]) == [True]
    assert store.settle([Settlement(job=silent[1], outcome=Done(), record=AttemptRecord(run_seconds=ran))]) == [True]
    rows = table.rows(f"SELECT {ATTEMPT} FROM {{attempts}} ORDER BY job_id")
    for job, row in zip((told, *silent), rows, strict=True):
        message = "x" if job is told else None
        assert row[:8] == (job.id, 1, 1, job.lease.token, "w1", "done", None, None)
        # The clock is read once more where a claim is two statements.
        assert row[8] == pytest.approx(job.waited_seconds, abs=60)
        assert row[9:] == (ran if ran is None else pytest.approx(ran, rel=1e-5), None, message, None, None)
    for (lasted,) in table.rows("SELECT ended_at - started_at FROM {attempts}"):
        assert lasted == pytest.approx((ran or 0.0) * 1e6, abs=1, rel=1e-5)


def test_ends_of_several_claims_and_workers_may_stand_in_one_batch(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail() for _ in range(7)])
    jobs = [*claim(2), *claim(2), *claim(2, worker="w2"), *claim(1, worker="w10")]
    lost = jobs.pop(3)
    assert store.release([lost]) == [True]
    stale = [*jobs[:3], lost, *jobs[3:]]
    assert store.settle([Settlement(job=job, outcome=Done()) for job in reversed(stale)]) == [True] * 3 + [False] + [True] * 3
    kept = table.rows("SELECT job_id, lease, worker FROM {attempts} ORDER BY job_id")
    assert kept == [(job.id, *job.lease) for job in jobs]
    assert table.value("SELECT state FROM {jobs} WHERE id = ?", (lost.id,)) == "ready"


HOSTILE = [
    "\0",
    "a\0b",
    "\ud800",
    "\udcff\udcfe",
    "\U0001f600" * 5000,
    "é" * 4999 + "€",
    "x" * 1_000_000,
    "'; DROP TABLE x; --",
    "%s %d ?",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_can_keep_a_failure_from_being_written(table: Database, store: Store, claim: Claimer, text: str) -> None:
    store.enqueue(mail())
    (job,) = claim()
    kept = AttemptRecord(output_tail=text, outcome_name=text, exit_status=1)
    assert store.settle([Settlement(job=job, outcome=GiveUp(reason=text, message=text, diagnostic=text), record=kept)]) == [
        True
    ]
    assert table.value("SELECT state FROM {jobs}") == "dead"
    message, diagnostic, tail = table.rows("SELECT message, diagnostic, output_tail FROM {attempts}")[0]
    assert len(message.encode()) <= 1000
    assert len(diagnostic.encode()) <= 8192
    assert len(tail.encode()) <= 65_536


def test_what_even_a_clean_text_cannot_mend_is_written_without_its_record(
    table: Database, store: Store, claim: Claimer
) -> None:
    """A number that fits no column spoils the record; the end is written all the same."""
    store.enqueue(mail())
    (job,) = claim()
    kept = AttemptRecord(exit_status=2**40, signal=2**70, outcome_name="done")
    assert store.settle([Settlement(job=job, outcome=Done(result_ref="r"), record=kept)]) == [True]
    assert table.value("SELECT state FROM {jobs}") == "succeeded"


def test_a_secret_in_what_a_run_says_is_not_stored(table: Database, store: Store, claim: Claimer) -> None:
    """Whatever it says it in: its message, its phase, its diagnostic, its output; and however it ends."""
    text = "connect mysql://shop:hunter2secret@db/shop failed"
    plain = [each for each in OUTCOMES if not isinstance(each, Released)]
    ends: list[Outcome] = [replace(each, message=text, diagnostic=text) for each in plain]
    store.enqueue_many([mail() for _ in ends])
    for job, end in zip(claim(len(ends)), ends, strict=True):
        assert store.progress(job, 0.5, text)
        assert store.settle([Settlement(job=job, outcome=end, record=AttemptRecord(output_tail=text))]) == [True]
    stored = [
        *table.rows("SELECT message, phase FROM {jobs}"),
        *table.rows("SELECT message, diagnostic, output_tail FROM {attempts}"),
    ]
    assert len(stored) == 2 * len(ends) and "hunter2secret" not in str(stored)
    assert all("mysql://shop:" in cell for row in stored for cell in row)


def test_an_end_is_final(table: Database, store: Store, claim: Claimer) -> None:
    answer = store.enqueue(mail())
    (job,) = claim()
    assert settled(store, job, Done())
    assert str(store.cancel(answer.public_id, by="ops")) == "succeeded"
    assert store.requeue([answer.public_id], by="ops") == 0
    assert state_of(table, answer.public_id) == "succeeded"


def test_an_attempt_that_pauses_its_kind_can_be_settled_together_with_the_next_claim(store: Store, claim: Claimer) -> None:
    store.enqueue_many([mail(key="a"), mail(key="b")])
    (job,) = claim(1)
    ends = [Settlement(job=job, outcome=RetryAt(delay_seconds=60, pause_kind_seconds=60), record=AttemptRecord())]
    held, more = store.settle_and_claim(ends, "default", kinds=("mail",), limit=2, worker="w1")
    assert (held, more) == ([True], [])


def test_ends_of_several_kinds_take_their_jobs_in_the_order_of_ids_before_any_is_changed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a rescue, which goes by ids, and a settle, which goes by kinds of ends, wait for each other in a circle."""
    store = database.store()
    store.enqueue_many([mail() for _ in range(5)])
    jobs = store.claim("default", kinds=KINDS, limit=5, worker="w")
    seen: list[tuple[str, tuple[int, ...]]] = []
    run = Session.run

    def recording(self: Session, template: str, parameters: Any = ()) -> Any:
        seen.append((template, tuple(parameters)))
        return run(self, template, parameters)

    monkeypatch.setattr(Session, "run", recording)
    ends = [Settlement(job=job, outcome=RetryAt() if job is jobs[0] else Done()) for job in reversed(jobs)]
    assert store.settle(ends) == [True] * 5
    locks = [parameters for template, parameters in seen if template.endswith("ORDER BY id FOR UPDATE")]
    assert locks == ([] if database.name == "sqlite" else [tuple(sorted(job.id for job in jobs))])
    if locks:
        assert seen[0][0].endswith("FOR UPDATE")


def test_ends_of_one_kind_are_written_without_a_look_before(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    store = database.store()
    store.enqueue_many([mail() for _ in range(5)])
    jobs = store.claim("default", kinds=KINDS, limit=5, worker="w")
    locks: list[int] = []
    monkeypatch.setattr(type(store.backend), "lock_jobs", lambda self, session, ids: locks.extend(ids))
    assert store.settle([Settlement(job=job, outcome=Done()) for job in jobs]) == [True] * 5
    assert locks == []
