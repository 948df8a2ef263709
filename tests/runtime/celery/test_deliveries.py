"""What becomes of a message, by the state of the row that it names."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cron2queue.runtime.celery.broker import ADMISSION_SECONDS, PAUSE_SECONDS
from cron2queue.runtime.celery.deliveries import DeliveredStore, Delivery
from cron2queue.runtime.jobs import NewJob


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DeliveredStore]:
    opened = DeliveredStore.open(f"sqlite:///{tmp_path / 'jobs.db'}")
    opened.migrate_up()
    yield opened
    opened.close()


def delivered(store: DeliveredStore, public_id: str) -> Delivery:
    made = Delivery.of(public_id, "default", "a")
    store.deliveries.add(made)
    store.claim("default", kinds=["a"], limit=1, worker="w")
    return made


def test_nothing_is_claimed_without_a_message(store: DeliveredStore) -> None:
    store.enqueue(NewJob(kind="a"))
    assert store.claim("default", kinds=["a"], limit=5, worker="w") == []


def test_a_message_ends_when_its_row_is_in_nobodys_hands_here_any_more(store: DeliveredStore) -> None:
    made = delivered(store, store.enqueue(NewJob(kind="a")).public_id)
    assert made.job is not None
    assert not store.deliveries.end({made.job.lease.token})
    assert not made.over
    assert store.deliveries.end(set())
    assert made.over
    assert store.deliveries.open == []


def test_a_message_for_a_row_that_another_has_is_over_at_once(store: DeliveredStore) -> None:
    job = store.enqueue(NewJob(kind="a"))
    assert store.claim_job(job.public_id, "default", kinds=["a"], worker="v") is not None
    made = delivered(store, job.public_id)
    assert (made.over, made.put_back, made.job) == (True, False, None)


def test_a_message_waits_for_room_and_is_then_put_back(store: DeliveredStore) -> None:
    store.set_limit("queue", "default", by="test", concurrency=1)
    held, waiting = (store.enqueue(NewJob(kind="a")) for _ in range(2))
    assert store.claim_job(held.public_id, "default", kinds=["a"], worker="v") is not None
    patient = delivered(store, waiting.public_id)
    assert not patient.over
    patient.since = time.monotonic() - ADMISSION_SECONDS
    store.claim("default", kinds=["a"], limit=1, worker="w")
    assert (patient.over, patient.put_back) == (True, True)


def test_a_message_of_a_paused_queue_is_dropped_once_the_relay_must_have_heard_of_the_pause(store: DeliveredStore) -> None:
    store.pause("default", by="test")
    waiting = delivered(store, store.enqueue(NewJob(kind="a")).public_id)
    assert not waiting.over
    waiting.since = time.monotonic() - PAUSE_SECONDS
    store.claim("default", kinds=["a"], limit=1, worker="w")
    assert (waiting.over, waiting.put_back, waiting.job) == (True, False, None)


def test_a_message_that_met_a_short_pause_is_claimed_after_it(store: DeliveredStore) -> None:
    store.pause("default", by="test")
    waiting = delivered(store, store.enqueue(NewJob(kind="a")).public_id)
    store.resume("default", by="test")
    store.claim("default", kinds=["a"], limit=1, worker="w")
    assert waiting.job is not None
