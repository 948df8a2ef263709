"""One named row is claimed under the same lease, limits and states as any other, on every database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import NAMES, Database, open_database

from cron2queue.runtime.jobs import Done, NewJob, Settlement


@pytest.fixture(params=NAMES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    opened = open_database(request.param, tmp_path)
    yield opened
    opened.close()


def test_the_named_job_is_claimed_and_no_other(database: Database) -> None:
    store = database.store()
    first, second = (store.enqueue(NewJob(kind="a", payload=number)) for number in range(2))
    job = store.claim_job(second.public_id, "default", kinds=["a", "b"], worker="w")
    assert job is not None
    assert (job.public_id, job.attempt, job.payload_text) == (second.public_id, 1, "1")
    assert store.is_ready(first.public_id)
    assert not store.is_ready(second.public_id)


def test_a_job_is_claimed_once_and_a_finished_one_never(database: Database) -> None:
    store, other = database.store(), database.store()
    enqueued = store.enqueue(NewJob(kind="a"))
    job = store.claim_job(enqueued.public_id, "default", kinds=["a"], worker="w")
    assert job is not None
    assert other.claim_job(enqueued.public_id, "default", kinds=["a"], worker="v") is None
    assert store.settle([Settlement(job=job, outcome=Done())]) == [True]
    assert other.claim_job(enqueued.public_id, "default", kinds=["a"], worker="v") is None


def test_other_kinds_queues_and_names_are_not_claimed(database: Database) -> None:
    store = database.store()
    enqueued = store.enqueue(NewJob(kind="a"))
    assert store.claim_job(enqueued.public_id, "default", kinds=["b"], worker="w") is None
    assert store.claim_job(enqueued.public_id, "mail", kinds=["a"], worker="w") is None
    assert store.claim_job("0" * 32, "default", kinds=["a"], worker="w") is None


def test_limits_and_pauses_hold_for_named_jobs(database: Database) -> None:
    store = database.store()
    store.set_limit("queue", "default", by="test", concurrency=1)
    one, two = (store.enqueue(NewJob(kind="a")) for _ in range(2))
    held = store.claim_job(one.public_id, "default", kinds=["a"], worker="w")
    assert held is not None
    assert store.claim_job(two.public_id, "default", kinds=["a"], worker="w") is None
    assert store.is_ready(two.public_id)
    store.settle([Settlement(job=held, outcome=Done())])
    store.pause("default", by="test")
    assert store.claim_job(two.public_id, "default", kinds=["a"], worker="w") is None
    store.resume("default", by="test")
    assert store.claim_job(two.public_id, "default", kinds=["a"], worker="w") is not None


def test_a_kind_at_its_limit_is_put_aside_and_comes_back(database: Database) -> None:
    store = database.store()
    store.set_limit("kind", "a", by="test", concurrency=1)
    one, two = (store.enqueue(NewJob(kind="a")) for _ in range(2))
    held = store.claim_job(one.public_id, "default", kinds=["a"], worker="w")
    assert held is not None
    assert store.claim_job(two.public_id, "default", kinds=["a"], worker="w") is None
    assert not store.is_ready(two.public_id)
    store.settle([Settlement(job=held, outcome=Done())])
    assert store.is_ready(two.public_id)
