"""What a worker's ends cost a database: how often one waits for it."""

import pytest
from databases import Database
from waits import asked

from cron2queue.runtime.jobs import AttemptRecord, Done, Job, NewJob, RetryAt, Settlement
from cron2queue.runtime.store import Store

KINDS = ("mail",)


@pytest.fixture
def store(database: Database) -> Store:
    """One that has worked before: it knows the limits, and what the server is."""
    opened = database.store()
    for _ in range(7):  # psycopg prepares what it has sent five times
        opened.settle([done(*claimed(opened, 1))])
    return opened


def claimed(store: Store, count: int, **fields: object) -> list[Job]:
    store.enqueue_many([NewJob(kind="mail", **fields) for _ in range(count)])  # type: ignore[arg-type]
    return store.claim("default", kinds=KINDS, limit=count, worker="w")


def done(job: Job) -> Settlement:
    return Settlement(job, Done(), record=AttemptRecord(run_seconds=0.5, outcome_name="done"))


def test_an_end_with_its_record_is_one_round_trip_on_postgresql_and_one_transaction_elsewhere(
    database: Database, store: Store
) -> None:
    (job,) = claimed(store, 1)
    assert asked(store, lambda: store.settle([done(job)])) == {"sqlite": 4, "postgresql": 1}.get(database.name, 3)
    assert database.rows("SELECT state, runs FROM {jobs} WHERE id = ?", (job.id,)) == [("succeeded", 1)]
    assert database.rows("SELECT outcome, run_seconds FROM {attempts} WHERE job_id = ?", (job.id,)) == [("done", 0.5)]


@pytest.mark.parametrize("what", ["order", "limit", "message", "retry"])
def test_an_end_that_more_hangs_on_is_a_transaction_everywhere(database: Database, store: Store, what: str) -> None:
    if what == "limit":
        store.set_limit("kind", "mail", by="test", concurrency=5)
    (job,) = claimed(store, 1, ordering_key="one" if what == "order" else None)
    outcome = RetryAt(delay_seconds=60) if what == "retry" else Done(message="well" if what == "message" else "")
    commits = []
    commit = store.driver.commit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.driver, "commit", lambda raw: (commits.append(raw), commit(raw)))
        assert store.settle([Settlement(job, outcome, record=AttemptRecord(run_seconds=0.5))]) == [True]
    assert commits


def test_an_end_by_itself_of_a_lease_that_is_lost_writes_nothing_and_of_one_that_has_ended_so_is_told_as_done(
    database: Database, store: Store
) -> None:
    lost, ended = claimed(store, 2)
    database.change("UPDATE {jobs} SET lease = 'other', worker = 'other' WHERE id = ?", (lost.id,))
    assert store.settle([done(lost)]) == [False]
    assert [store.settle([done(ended)]) for _ in range(2)] == [[True], [True]]
    assert database.rows("SELECT job_id FROM {attempts} WHERE job_id IN (?, ?)", (lost.id, ended.id)) == [(ended.id,)]
