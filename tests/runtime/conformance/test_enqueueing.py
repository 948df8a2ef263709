"""Enqueue: idempotent by key, in bulk, within limits."""

import json
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from databases import Database
from runtime.conformance.conftest import Claimer, mail, settled, state_of

from cron2queue.runtime.jobs import Cancelled, Done, Forever, GiveUp, NewJob, Period, RetryAt
from cron2queue.runtime.store import Store
from cron2queue.runtime.trouble import JobRefused, QueueFull


def count(table: Database) -> int:
    return int(table.value("SELECT COUNT(*) FROM {jobs}"))


def test_the_same_key_twice_is_one_row_and_says_duplicate(table: Database, store: Store) -> None:
    first = store.enqueue(mail(key="order 7"))
    second = store.enqueue(mail(key="order 7", payload={"other": "payload"}))
    assert (first.duplicate, second.duplicate) == (False, True)
    assert (first.id, first.public_id) == (second.id, second.public_id)
    assert count(table) == 1


def test_the_same_key_of_another_kind_is_another_job(table: Database, store: Store) -> None:
    store.enqueue_many([NewJob(kind="mail", key="7"), NewJob(kind="report", key="7")])
    assert count(table) == 2


def test_without_a_key_every_job_is_its_own(table: Database, store: Store) -> None:
    assert len({store.enqueue(mail()).public_id for _ in range(3)}) == 3
    assert count(table) == 3


@pytest.mark.parametrize("end", [Done(), GiveUp(reason="no"), Cancelled()], ids=lambda end: type(end).__name__)
def test_a_key_is_free_again_when_its_job_has_ended(store: Store, claim: Claimer, end: Done | GiveUp | Cancelled) -> None:
    first = store.enqueue(mail(key="k"))
    (job,) = claim()
    assert store.enqueue(mail(key="k")).duplicate
    assert settled(store, job, end)
    second = store.enqueue(mail(key="k"))
    assert not second.duplicate
    assert second.public_id != first.public_id


def test_a_key_stays_taken_through_retries(store: Store, claim: Claimer) -> None:
    store.enqueue(mail(key="k"))
    (job,) = claim()
    assert settled(store, job, RetryAt(delay_seconds=3600))
    assert store.enqueue(mail(key="k")).duplicate


def test_a_key_for_ever_is_never_free_until_the_row_is_pruned(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail(key="k", unique=Forever()))
    (job,) = claim()
    assert settled(store, job, Done())
    assert store.enqueue(mail(key="k", unique=Forever())).duplicate
    table.change("UPDATE {jobs} SET finished_at = finished_at - 1000000000000000")
    assert store.prune()["jobs"] == 1
    assert not store.enqueue(mail(key="k", unique=Forever())).duplicate


def test_a_key_for_a_period_is_free_after_it_whatever_became_of_the_job(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail(key="k", unique=Period(seconds=60)))
    (job,) = claim()
    assert settled(store, job, Done())
    assert store.enqueue(mail(key="k", unique=Period(seconds=60))).duplicate
    table.change("UPDATE {jobs} SET unique_until = unique_until - 61000000")
    again = store.enqueue(mail(key="k", unique=Period(seconds=60)))
    assert not again.duplicate
    table.change("UPDATE {jobs} SET unique_until = unique_until - 61000000")
    assert not store.enqueue(mail(key="k", unique=Period(seconds=60))).duplicate


ODD_KEYS = [
    "job", "Job", "JOB", "Jób", "Jób", "job ", " job", "job\t", "jo\0b", "job\0", "", " ", "ß", "ss", "ẞ", "İ", "i̇", "ı",
    "Å", "Å", "Å", "æ", "ae", "\U0001f600", "\U0001f601", "日本", "日本\u3000", "x" * 191, "x" * 192, "x" * 255,
    "x" * 256, "é" * 300, "x" * 1023 + "a", "x" * 1023 + "b", "\udcff", "\udcfe", "%", "_", "'", '"', "\\", "\\'", "`", "?",
    "NULL", "null", "0", "00", "1", "1.0", "1e0", "\u200b", "\ufeff", "\n", "\r", "\r\n", "a\u0308", "ä",
]  # fmt: skip


def test_odd_keys_that_differ_in_any_byte_are_different_jobs(table: Database, store: Store, claim: Claimer) -> None:
    distinct = list(dict.fromkeys([*ODD_KEYS, *(unicodedata.normalize("NFD", key) for key in ODD_KEYS)]))
    answers = store.enqueue_many([mail(key=key) for key in distinct])
    assert not any(answer.duplicate for answer in answers)
    assert count(table) == len(distinct)
    again = store.enqueue_many([mail(key=key) for key in distinct])
    assert [answer.id for answer in again] == [answer.id for answer in answers]
    assert all(answer.duplicate for answer in again)
    assert {job.key for job in claim(500)} == set(distinct)


def test_a_bulk_answers_in_the_order_of_its_jobs_and_no_duplicate_fails_it(table: Database, store: Store) -> None:
    known = store.enqueue(mail(key="3"))
    answers = store.enqueue_many([mail(key=str(number % 5)) for number in range(10)] + [mail()])
    assert [answer.duplicate for answer in answers] == [False, False, False, True, False, *[True] * 5, False]
    assert answers[3].id == answers[8].id == known.id
    assert answers[0].id == answers[5].id
    assert count(table) == 6


def test_thousands_of_jobs_go_in_at_once(table: Database, store: Store) -> None:
    answers = store.enqueue_many([mail(key=f"n{number}", payload={"n": number}) for number in range(2500)])
    assert len({answer.id for answer in answers}) == 2500
    assert [answer.id for answer in answers] == sorted(answer.id for answer in answers)
    assert count(table) == 2500


def test_an_enqueue_whose_outcome_was_unknown_can_be_repeated(table: Database, store: Store, claim: Claimer) -> None:
    """By the public id, even without a key, and even when the job has run meanwhile."""
    given = mail(public_id="0123456789abcdef0123456789abcdef")
    first = store.enqueue(given)
    assert store.enqueue(given) == first
    (job,) = claim()
    assert settled(store, job, Done())
    assert store.enqueue(given).id == first.id
    assert count(table) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        mail(payload=float("nan")), mail(payload={"x": object()}), mail(payload="x" * 262_144), mail(key="k" * 1025),
        mail(queue=""), mail(queue="a b"), mail(queue="q" * 65), NewJob(kind="ünder"), NewJob(kind=""), mail(owner="o" * 256),
        mail(ordering_key="o" * 256), mail(max_attempts=0), mail(priority=2**31), mail(run_at=datetime(2030, 1, 1)),
        mail(key="k", unique=Period(seconds=0)), mail(trace_context="a\nb"), mail(key="\ud800"), mail(public_id="X" * 32),
        NewJob(kind=["mail"]),  # type: ignore[arg-type]
    ],
    ids=lambda job: repr(job)[:40],
)  # fmt: skip
def test_what_cannot_be_stored_is_refused_before_the_database_sees_it(sqlite_database: Database, wrong: NewJob) -> None:
    store = sqlite_database.store()
    with pytest.raises(JobRefused) as refused:
        store.enqueue(wrong)
    assert refused.value.remedy
    assert count(sqlite_database) == 0


def test_a_payload_may_be_as_large_as_the_limit_and_not_a_byte_larger(table: Database, store: Store, claim: Claimer) -> None:
    largest = "é" * ((262_144 - 2) // 2)
    store.enqueue(mail(payload=largest))
    with pytest.raises(JobRefused, match="262145 bytes"):
        store.enqueue(mail(payload=largest + "x"))
    assert len(claim()[0].payload_text.encode()) == 262_144


def test_a_payload_nested_too_deep_is_refused_and_one_level_less_is_not(store: Store) -> None:
    deep: object = 1
    for _ in range(64):
        deep = [deep]
    store.enqueue(mail(payload=deep))
    with pytest.raises(JobRefused, match="nested"):
        store.enqueue(mail(payload={"x": deep}))


@pytest.mark.parametrize("payload", [None, "\0", "\ud800", "\U0001f600", {"": {}}, [], 10**40, "\\u0000", 1e-320])
def test_every_json_value_comes_back_as_it_was(store: Store, claim: Claimer, payload: object) -> None:
    import json

    store.enqueue(mail(payload=payload))
    assert json.loads(claim()[0].payload_text) == payload


def test_a_full_queue_refuses_before_anything_is_written(table: Database, store: Store, claim: Claimer) -> None:
    store.set_limit("queue", "default", by="ops", depth=3)
    store.enqueue_many([mail(), mail(run_at=datetime.now(UTC) + timedelta(hours=1))])
    with pytest.raises(QueueFull) as full:
        table.store().enqueue_many([mail(), mail()])
    assert full.value.exit_status == 75
    assert count(table) == 2
    store.enqueue(mail())
    store.enqueue(mail(queue="other"))
    with pytest.raises(QueueFull):
        store.enqueue(mail())
    claim(1)
    store.enqueue(mail())


def test_a_limit_that_another_sets_holds_for_the_next_enqueue(table: Database, store: Store) -> None:
    """However much a producer that has been at work knows already."""
    store.enqueue(mail())
    operator = table.store()
    operator.set_limit("queue", "default", by="ops", depth=1)
    with pytest.raises(QueueFull):
        store.enqueue(mail())
    operator.set_limit("queue", "default", by="ops", depth=2)
    store.enqueue(mail())
    assert count(table) == 2


def test_a_queue_whose_oldest_ready_job_is_too_old_refuses(table: Database, store: Store, claim: Claimer) -> None:
    store.enqueue(mail(priority=1))
    store.enqueue(mail(priority=500))
    store.set_limit("queue", "default", by="ops", age=60)
    store.enqueue(mail())
    table.change("UPDATE {jobs} SET ready_at = ready_at - 61000000 WHERE priority = 500")
    with pytest.raises(QueueFull, match="oldest ready job"):
        store.enqueue(mail())
    claim()
    store.enqueue(mail())


def test_a_duplicate_is_no_reason_for_a_full_queue_to_write(table: Database, store: Store) -> None:
    store.enqueue(mail(key="k"))
    store.set_limit("queue", "default", by="ops", depth=1)
    with pytest.raises(QueueFull):
        store.enqueue_many([mail(key="k"), mail(key="new")])
    assert count(table) == 1


def test_publish_makes_one_job_for_each_subscribed_kind(store: Store, claim: Claimer) -> None:
    assert store.publish("order.placed", {"n": 1}) == []
    store.subscribe("order.placed", "mail")
    store.subscribe("order.placed", "report", queue="default", priority=5, max_attempts=2)
    store.subscribe("order.shipped", "mail")
    answers = store.publish("order.placed", {"n": 1}, key="order 1")
    assert [answer.duplicate for answer in answers] == [False, False]
    assert [answer.duplicate for answer in store.publish("order.placed", {"n": 1}, key="order 1")] == [True, True]
    jobs = claim()
    assert [(job.kind, job.priority, job.max_attempts, job.payload_text) for job in jobs] == [
        ("report", 5, 2, '{"n":1}'),
        ("mail", 100, 8, '{"n":1}'),
    ]
    assert store.unsubscribe("order.placed", "mail")
    assert len(store.publish("order.placed")) == 1


def test_subscribing_again_changes_the_subscription(store: Store, claim: Claimer) -> None:
    store.subscribe("e", "mail", priority=3)
    store.subscribe("e", "mail", priority=4)
    store.publish("e")
    assert [job.priority for job in claim()] == [4]


def test_what_is_accepted_is_not_shown_as_done(table: Database, store: Store) -> None:
    answer = store.enqueue(mail())
    assert state_of(table, answer.public_id) == "ready"
    assert table.rows("SELECT finished_at, started_at, attempts FROM {jobs}") == [(None, None, 0)]


def test_a_bulk_keeps_every_text_and_byte_whatever_its_jobs_have_in_common(database: Database) -> None:
    """Columns that are the same in all rows go another way than those that differ, and text another than bytes."""
    texts = ["", '"', "\\", '\\"', "{a,b}", "NULL", "a\nb", "\t", "%s ? {now}", "\0", "Ж🂡", "a" * 5000, "},{", "\ud800"]
    alike = [NewJob(kind="mail", payload=text) for text in texts]
    owners = [None if n % 2 else "me" for n in range(len(texts))]
    trace = "00-a\"'\\b"
    owned = [NewJob(kind="mail", payload=text, owner=who, trace_context=trace) for text, who in zip(texts, owners, strict=True)]
    mixed = [
        NewJob(
            kind=f"k{n % 3}", queue=f"q{n % 2}", priority=n, key=f"Ключ {text[:9]!r} {n}" if n % 3 else None,
            payload={"t": text},
            ordering_key="o" if n % 4 == 0 else None, max_attempts=n + 1, trace_context=None if n % 2 else f"t{n}",
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip
    same = [NewJob(kind="mail", payload="same", limit_key="l") for _ in texts]
    odd = [
        NewJob(
            kind="mail",
            payload=text,
            limit_key=text[:99],
            owner=text[:99],
            trace_context=text[:99] if text.isprintable() else None,
        )
        for text in texts
        if text != "\ud800"
        for _ in range(2)
    ]
    pairs = [odd[at : at + 2] for at in range(0, len(odd), 2)]
    columns = "public_id, kind, queue, priority, job_key, payload, max_attempts, ordering_key, owner, trace_context, limit_key"
    for jobs in (alike, owned, mixed, same, *pairs):
        store = database.store()
        answers = store.enqueue_many(jobs)
        for job, answer in zip(jobs, answers, strict=True):
            (row,) = database.rows(f"SELECT {columns} FROM {{jobs}} WHERE id = ?", (answer.id,))
            found = [bytes(cell) if isinstance(cell, memoryview | bytearray) else cell for cell in row]
            exact = [None if text is None else text.encode() for text in (job.key, job.ordering_key, job.owner, job.limit_key)]
            assert found[:4] == [answer.public_id, job.kind, job.queue, job.priority]
            assert (json.loads(found[5]), found[6], found[9]) == (job.payload, job.max_attempts, job.trace_context)
            assert [found[4], found[7], found[8], found[10]] == exact
