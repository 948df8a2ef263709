"""What a worker's ends cost a database: how often one waits for it."""

import pytest
from databases import SERVERS, Database
from waits import asked

from cron2queue.runtime.backend import among
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


def settled_and_claimed(store: Store, ends: list[Settlement], limit: int = 3) -> tuple[list[bool], list[Job]]:
    return store.settle_and_claim(ends, "default", kinds=KINDS, limit=limit, worker="w")


def test_ends_and_the_next_claim_are_one_round_trip_on_postgresql_however_many_they_are(
    database: Database, store: Store
) -> None:
    ends = [done(job) for job in claimed(store, 40)]
    store.enqueue_many([NewJob(kind="mail") for _ in range(100)])
    for _ in range(7):
        ends = [done(job) for job in settled_and_claimed(store, ends, 10)[1]]
    found: list[Job] = []
    waits = asked(store, lambda: found.extend(settled_and_claimed(store, ends, 10)[1]))
    assert waits == {"sqlite": 5, "postgresql": 1}.get(database.name, 5)
    assert [job.attempt for job in found] == [1] * 10
    assert database.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'succeeded'") == 7 + 40 + 70
    assert database.value("SELECT COUNT(*) FROM {attempts} WHERE outcome = 'done' AND run_seconds = 0.5") == 7 + 40 + 70


@pytest.mark.parametrize(
    ("ids", "named"),
    [
        ([4, 3, 5], ("id BETWEEN ? AND ?", (3, 5))),
        ([3, 5], ("id IN (?, ?)", (3, 5))),
        ([3, 3, 5], ("id IN (?, ?, ?)", (3, 3, 5))),  # as many as from 3 to 5, and yet not those
        ([3], ("id IN (?)", (3,))),
    ],
)
def test_rows_that_follow_each_other_are_named_as_a_range_and_no_others(ids: list[int], named: tuple[object, ...]) -> None:
    assert among(ids) == named


def test_jobs_of_others_beside_and_between_are_neither_changed_nor_waited_for(database: Database, store: Store) -> None:
    """They are locked meanwhile: whoever touched them would stand still."""
    jobs = claimed(store, 9)
    kept = [jobs[0], jobs[4], jobs[8]]
    if database.name != "sqlite":
        holder = database.store(patience=0.1)
        holding = holder.sessions.current()
        holder.driver.begin(holding.raw)
        for job in kept:
            holding.run("UPDATE {jobs} SET message = 'mine' WHERE id = ?", (job.id,))
    for some in (jobs[1:4], [jobs[5], jobs[7]], [jobs[6]]):
        assert store.settle([done(job) for job in some]) == [True] * len(some)
    if database.name != "sqlite":
        assert store.claim("default", kinds=KINDS, limit=9, worker="w") == []
        holder.driver.rollback(holding.raw)
    states = database.rows("SELECT state FROM {jobs} ORDER BY id")[-9:]
    assert [state for (state,) in states] == ["running" if job in kept else "succeeded" for job in jobs]


@pytest.mark.parametrize("database", SERVERS, indirect=True)
def test_a_claim_takes_no_lock_of_what_lies_behind_it(database: Database, store: Store) -> None:
    store.enqueue_many([NewJob(kind="mail") for _ in range(6)])
    holder = database.store()
    holding = holder.sessions.current()
    holder.driver.begin(holding.raw)
    (last,) = database.rows("SELECT MAX(id) FROM {jobs}")[0]
    holding.run("UPDATE {jobs} SET message = 'mine' WHERE id IN (?, ?)", (last - 2, last))
    assert [job.id for job in store.claim("default", kinds=KINDS, limit=9, worker="w")] == [
        last - 5,
        last - 4,
        last - 3,
        last - 1,
    ]
    holder.driver.rollback(holding.raw)


def test_a_pause_in_between_holds_the_claim_and_not_the_ends(database: Database, store: Store) -> None:
    ends = [done(job) for job in claimed(store, 3)]
    store.enqueue_many([NewJob(kind="mail") for _ in range(3)])
    other = database.store()
    other.pause("default", by="test")
    assert settled_and_claimed(store, ends) == ([True] * 3, [])
    other.resume("default", by="test")
    other.set_limit("kind", "mail", by="test", concurrency=2)
    assert len(settled_and_claimed(store, [], 3)[1]) == 2
    assert database.value("SELECT COUNT(*) FROM {attempts}") == 7 + 3


def test_with_nothing_more_to_claim_the_ends_are_written_all_the_same(database: Database, store: Store) -> None:
    jobs = claimed(store, 3)
    database.change("UPDATE {jobs} SET lease = 'other', worker = 'other' WHERE id = ?", (jobs[1].id,))
    assert settled_and_claimed(store, [done(job) for job in jobs]) == ([True, False, True], [])
    assert settled_and_claimed(store, [done(job) for job in jobs[:1]]) == ([True], [])
    assert {each.series: each.n for each in store.tally.take() if "outcome" in each.series} == {"outcome:done": 7 + 3}


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
