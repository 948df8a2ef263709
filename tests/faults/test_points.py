"""Every verb is killed at each of its points in turn; then all goes on without a hand, and SQL says whether all is well.

Nothing here is random: points are where a transaction begins or commits and where a statement stands by itself, and each of
them is tried, until the verb comes to its end.
"""

import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from databases import Database
from invariants import broken

from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import AttemptRecord, Crashed, Done, Job, NewJob, RetryAt, Settlement, WorkerInfo
from cron2queue.runtime.retention import Retention
from cron2queue.runtime.store import Store

KINDS = ("effect", "mail", "report")
PATIENCE_SECONDS = 60.0
Act = Callable[[Store], object]


def made(store: Store, number: int, kind: str = "mail", jobs: int = 3, **fields: Any) -> list[int]:
    some = [NewJob(kind=kind, key=f"{number}/{each}", max_attempts=50, **fields) for each in range(jobs)]
    return [answer.id for answer in store.enqueue_many(some)]


def claimed(store: Store, number: int, by: str = "victim", **fields: Any) -> list[Job]:
    made(store, number, **fields)
    return store.claim("default", kinds=KINDS, limit=10, worker=by)


def ends(jobs: list[Job], *outcomes: Any) -> list[Settlement]:
    kept = AttemptRecord(run_seconds=0.5)
    return [Settlement(job=job, outcome=end, record=kept) for job, end in zip(jobs, outcomes, strict=False)]


# ---- what a verb finds, and the verb itself


def claims(store: Store, number: int) -> Act:
    made(store, number)
    return lambda own: own.claim("default", kinds=KINDS, limit=2, worker="victim")


def claims_under_limits(store: Store, number: int) -> Act:
    store.set_limit("kind", "mail", by="test", concurrency=2)
    store.set_limit("key", "*", by="test", concurrency=1)
    made(store, number, limit_key=f"customer {number}")
    return lambda own: own.claim("default", kinds=KINDS, limit=3, worker="victim")


def settles_what_is_done(store: Store, number: int) -> Act:
    jobs = claimed(store, number)
    return lambda own: own.settle([Settlement(job=job, outcome=Done()) for job in jobs])


def settles_every_kind_of_end(store: Store, number: int) -> Act:
    jobs = claimed(store, number)
    return lambda own: own.settle(ends(jobs, RetryAt(delay_seconds=0), Crashed(reason="crashed"), Done(message="well")))


def passes_a_turn_on(store: Store, number: int) -> Act:
    jobs = claimed(store, number, ordering_key=f"order {number}")
    return lambda own: own.settle(ends(jobs, Done()))


def settles_and_claims(store: Store, number: int) -> Act:
    jobs = claimed(store, number)
    made(store, -number)
    return lambda own: own.settle_and_claim(ends(jobs, *[Done()] * 3), "default", kinds=KINDS, limit=2, worker="victim")


def gives_back(store: Store, number: int) -> Act:
    jobs = claimed(store, number)
    return lambda own: own.release(jobs)


def completes_in_a_transaction(store: Store, number: int) -> Act:
    (job,) = claimed(store, number, kind="effect", jobs=1)
    return lambda own: with_effect(own, job)


def rescues(store: Store, number: int) -> Act:
    store.register_worker(WorkerInfo(token="gone", host="h", pid=1, version="0", kinds=KINDS, queues=("default",)))
    claimed(store, number, by="gone", ordering_key=f"order {number}")
    claimed(store, -number, by="gone")
    return lambda own: own.rescue("gone", counter_seen=own.beats()["gone"], by="victim")


def reconciles(store: Store, number: int) -> Act:
    claimed(store, number)
    return lambda own: own.reconcile("victim", set())


def signs_on_beats_and_leaves(store: Store, number: int) -> Act:
    claimed(store, number)

    def act(own: Store) -> None:
        own.register_worker(WorkerInfo(token="victim", host="h", pid=1, version="0", kinds=KINDS, queues=("default",)))
        own.beat("victim")
        own.retire_worker("victim")

    return act


def moves_and_sweeps(store: Store, number: int) -> Act:
    jobs = claimed(store, number)
    store.settle(ends(jobs, *[RetryAt(delay_seconds=0)] * 3))
    made(store, -number, ordering_key=f"order {number}")
    return lambda own: own.move_due()


def cancels(store: Store, number: int) -> Act:
    answers = store.enqueue_many([NewJob(kind="mail", ordering_key=f"order {number}") for _ in range(3)])
    return lambda own: [own.cancel(answer.public_id, by="victim") for answer in answers[:2]]


def prunes(store: Store, number: int) -> Act:
    jobs = claimed(store, number)
    store.settle(ends(jobs, *[Done()] * 3))
    return lambda own: own.prune(Retention(succeeded=0.0))


def changes_limits_and_pauses(store: Store, number: int) -> Act:
    made(store, number)

    def act(own: Store) -> None:
        own.set_limit("kind", "mail", by="victim", concurrency=number, rate=1000, burst=100)
        own.pause("other", by="victim")
        own.resume("other", by="victim")

    return act


WORKING = (
    claims,
    claims_under_limits,
    settles_what_is_done,
    settles_every_kind_of_end,
    passes_a_turn_on,
    settles_and_claims,
    gives_back,
    completes_in_a_transaction,
    rescues,
    reconciles,
    signs_on_beats_and_leaves,
    moves_and_sweeps,
    cancels,
    changes_limits_and_pauses,
)


# ---- the kill


def dies_before(database: Database, act: Act, point: int) -> bool:
    """Do it in a process that is killed at this point; False if it came to its end before that."""
    database.close()  # no connection crosses the fork
    pid = os.fork()
    if pid == 0:
        try:
            store = Store.open(database.url)
            kill_before(store, point)
            act(store)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def kill_before(store: Store, point: int) -> None:
    """Of this process's points: where a transaction begins or commits, and each statement that stands by itself.

    Whatever is killed within a transaction looks the same to others as what is killed before its COMMIT.
    """
    numbers, inside = count(1), [False]

    def counted(method: Callable[..., Any], after: bool | None) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            if (after is not None or not inside[0]) and next(numbers) == point:
                os.kill(os.getpid(), signal.SIGKILL)
            inside[0] = inside[0] if after is None else after
            return method(*arguments)

        return step

    driver: Any = type(store.driver)
    Session.send = counted(Session.send, None)  # type: ignore[method-assign]
    driver.begin, driver.commit = counted(driver.begin, True), counted(driver.commit, False)


def points(database: Database, prepare: Callable[[Store, int], Act]) -> Iterator[int]:
    """Kill at one point after the other, until the verb comes to its end."""
    for point in count(1):
        act = prepare(database.store(), point)
        died = dies_before(database, act, point)
        yield point
        if not died:
            return


# ---- how all goes on


def with_effect(store: Store, job: Job) -> None:
    with store.transaction(job) as raw:
        raw.cursor().execute(f"INSERT INTO effects (job) VALUES ({job.id})")


def go_on(store: Store) -> None:
    """What living workers do: rescue, move, claim and run, until every job has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    open_jobs = "SELECT id, state, worker FROM {jobs} WHERE finished_at IS NULL"
    while left := store.sessions.read(lambda session: session.rows(open_jobs)):
        assert time.monotonic() < deadline, left
        for worker, counter in store.beats().items():
            store.rescue(worker, counter_seen=counter, by="finisher")
        store.move_due()
        for job in store.claim("default", kinds=KINDS, limit=50, worker="finisher"):
            if job.kind == "effect":
                with_effect(store, job)
            else:
                assert store.settle([Settlement(job=job, outcome=Done())]) == [True]


@pytest.fixture
def effects(database: Database) -> Database:
    database.change("DROP TABLE IF EXISTS effects")
    database.change("CREATE TABLE effects (job BIGINT)")
    return database


@pytest.mark.parametrize("prepare", WORKING, ids=lambda prepare: prepare.__name__)
def test_a_verb_that_is_killed_at_any_point_leaves_nothing_that_others_cannot_mend(
    effects: Database, prepare: Callable[[Store, int], Act]
) -> None:
    for _ in points(effects, prepare):
        go_on(effects.store())
    assert broken(effects, []) == {}
    assert effects.rows("SELECT turn FROM {jobs} WHERE turn IS NOT NULL OR held_by IS NOT NULL") == []
    done = effects.rows("SELECT id FROM {jobs} WHERE kind = 'effect' AND state = 'succeeded' ORDER BY id")
    assert effects.rows("SELECT job FROM effects ORDER BY job") == done  # I2


def test_a_producer_that_is_killed_at_any_point_may_ask_again_and_each_job_is_there_once(database: Database) -> None:
    database.store().subscribe("placed", "mail")
    database.store().subscribe("placed", "report")

    def prepare(store: Store, number: int) -> Act:
        def act(own: Store) -> None:
            own.enqueue(NewJob(kind="mail", key=f"one {number}", ordering_key="o"))
            own.enqueue_many([NewJob(kind="mail", key=f"many {number}/{each}") for each in range(3)])
            own.publish("placed", key=f"event {number}")

        acts.append(act)
        return act

    acts: list[Act] = []
    for point in points(database, prepare):
        acts[-1](database.store())
        keys = "SELECT kind, job_key FROM {jobs}"
        rows = database.rows(keys)
        assert (len(rows), len(set(rows))) == (6 * point, 6 * point)
    go_on(database.store())
    assert broken(database, []) == {}


def test_pruning_that_is_killed_at_any_point_leaves_no_attempt_without_its_job(database: Database) -> None:
    orphans = "SELECT job_id FROM {attempts} a WHERE NOT EXISTS (SELECT 1 FROM {jobs} j WHERE j.id = a.job_id)"
    for _ in points(database, prunes):
        assert database.rows(orphans) == []
    database.store().prune(Retention(succeeded=0.0))
    assert database.rows("SELECT id FROM {jobs}") == []


def test_a_requeue_that_is_killed_at_any_point_can_be_said_again(database: Database) -> None:
    def prepare(store: Store, number: int) -> Act:
        made(store, number, jobs=2, ordering_key=f"order {number}")
        made(store, -number, jobs=2)
        while jobs := store.claim("default", kinds=KINDS, limit=10, worker="w"):
            store.settle(ends(jobs, *[Crashed(reason="crashed")] * 10))
        assert database.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'dead'") == 4
        return lambda own: own.requeue(kind="mail", by="victim")

    for point in points(database, prepare):
        database.store().requeue(kind="mail", by="test")
        assert database.rows("SELECT id FROM {jobs} WHERE state = 'dead'") == []
        go_on(database.store())
        assert database.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'succeeded'") == 4 * point
