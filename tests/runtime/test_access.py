"""Jobs for the users of an application: each sees their own, and nothing of anybody else."""

import pytest
from databases import Database
from scenes import KIND, accept, claim, finish, kill, register, settle

from cron2queue.errors import UsageError
from cron2queue.runtime.access import JobAccess, NotDone, NotFound
from cron2queue.runtime.jobs import Done, JobState, NewJob
from cron2queue.runtime.store import Store


def as_(store: Store, principal: str) -> JobAccess:
    return JobAccess(store, principal=principal)


@pytest.mark.parametrize("nobody", [None, "", 0])
def test_without_a_principal_there_is_no_access(sqlite_database: Database, nobody: object) -> None:
    with pytest.raises(UsageError, match="a principal is needed"):
        JobAccess(sqlite_database.store(), principal=nobody)  # type: ignore[arg-type]


def test_an_enqueued_job_belongs_to_the_principal_whatever_it_says(database: Database) -> None:
    store = database.store()
    accepted = as_(store, "anna").enqueue(NewJob(kind=KIND, owner="bob"))
    assert as_(store, "anna").status(accepted.public_id).state is JobState.READY
    with pytest.raises(NotFound):
        as_(store, "bob").status(accepted.public_id)


def test_equal_keys_of_two_users_are_two_jobs(database: Database) -> None:
    store = database.store()
    annas = as_(store, "anna").enqueue(NewJob(kind=KIND, key="2026-11"))
    bobs = as_(store, "bob").enqueue(NewJob(kind=KIND, key="2026-11"))
    again = as_(store, "anna").enqueue(NewJob(kind=KIND, key="2026-11"))
    assert not bobs.duplicate and bobs.public_id != annas.public_id
    assert again.duplicate and again.public_id == annas.public_id


def test_nothing_of_another_owners_job_is_told_on_any_way(database: Database) -> None:
    store = database.store()
    (bobs,) = accept(store, 1, owner="bob")
    nobodys = accept(store, 1, key="none")[0]
    anna = as_(store, "anna")
    said = set()
    for public_id in (bobs, nobodys, "f" * 32, "", "ü", "x" * 9999, "' OR 1=1 --"):
        for ask in (anna.status, anna.result, anna.cancel, lambda each: anna.list(before=each)):
            with pytest.raises(NotFound) as refused:
                ask(public_id)
            said.add(str(refused.value))
    assert said == {"no such job\n  remedy: ask by the id that was given when it was accepted"}
    assert anna.list() == []
    assert database.value("SELECT COUNT(*) FROM {jobs} WHERE state = 'ready'") == 2


def test_a_list_is_the_principals_own_newest_first_and_paged(database: Database) -> None:
    store = database.store()
    ids = accept(store, 3, owner="anna")
    accept(store, 3, owner="bob", key=None)
    anna = as_(store, "anna")
    assert [job.id for job in anna.list(limit=2)] == [ids[2], ids[1]]
    assert [job.id for job in anna.list(before=ids[1])] == [ids[0]]
    assert len(anna.list(limit=10**9)) == 3 and len(anna.list(limit=-1)) == 1


def test_the_result_is_told_only_when_there_is_one(database: Database) -> None:
    store = database.store()
    (public_id,) = accept(store, 1, owner="anna")
    register(store)
    anna = as_(store, "anna")
    with pytest.raises(NotDone, match="the job is ready"):
        anna.result(public_id)
    (job,) = claim(store)
    store.progress(job, 0.25, "rows")
    status = anna.status(public_id)
    assert (status.state, status.fraction, status.phase, status.ended) == (JobState.RUNNING, 0.25, "rows", False)
    assert status.ask_again_seconds == 1 and status.finished_at is None
    settle(store, job, Done(result_ref="exports/42.csv"), name="done")
    assert anna.result(public_id) == "exports/42.csv"
    status = anna.status(public_id)
    assert status.ended and status.ask_again_seconds is None and status.finished_at is not None


def test_users_get_the_safe_message_and_never_the_diagnostic(database: Database) -> None:
    store = database.store()
    (public_id,) = accept(store, 1, owner="anna")
    register(store)
    kill(store, message="the order is unknown", output="secret path /srv/x")
    status = as_(store, "anna").status(public_id)
    assert (status.state, status.message) == (JobState.DEAD, "the order is unknown")
    assert "Traceback" not in repr(status) and "/srv" not in repr(status) and "w1" not in repr(status)
    with pytest.raises(NotDone, match="the job is dead"):
        as_(store, "anna").result(public_id)


def test_a_user_cancels_what_has_not_begun_and_the_act_is_recorded(database: Database) -> None:
    store = database.store()
    first, second = accept(store, 2, owner="anna")
    register(store)
    anna = as_(store, "anna")
    claim(store)
    assert anna.cancel(first).state is JobState.CANCEL_REQUESTED
    assert anna.cancel(second).state is JobState.CANCELLED
    assert anna.cancel(second).state is JobState.CANCELLED
    assert database.rows("SELECT done_by, verb, target FROM {operations} ORDER BY id") == [
        ("anna", "cancel", first), ("anna", "cancel", second),
    ]  # fmt: skip


def test_a_job_that_is_tried_again_is_not_told_as_finished(database: Database) -> None:
    store = database.store()
    (public_id,) = accept(store, 1, owner="anna")
    register(store)
    kill(store)
    store.requeue([public_id], by="ops")
    status = as_(store, "anna").status(public_id)
    assert status.state is JobState.READY and not status.ended and status.finished_at is None
    finish(database.store())
    assert as_(store, "anna").status(public_id).state is JobState.SUCCEEDED
