"""The vocabulary: states and their transitions are data, and the verbs write no other."""

import re

import pytest

from cron2queue.runtime.backend import CLAIMED
from cron2queue.runtime.jobs import ENDED, HELD, TRANSITIONS, WAITING, Job, JobState, Lease, NewJob, sources
from cron2queue.runtime.verbs import settling


def test_every_state_is_waiting_held_or_ended() -> None:
    assert set(JobState) == WAITING | HELD | ENDED
    assert len(WAITING) + len(HELD) + len(ENDED) == len(JobState)


def test_what_has_succeeded_or_was_cancelled_is_left_by_nothing() -> None:
    assert {old for old, _ in TRANSITIONS if old in ENDED} == {JobState.DEAD}
    assert {new for old, new in TRANSITIONS if old is JobState.DEAD} <= WAITING


def test_every_state_can_be_reached_and_an_end_reached_from_it() -> None:
    reached = {JobState.READY, JobState.SCHEDULED, JobState.BLOCKED}
    while more := {new for old, new in TRANSITIONS if old in reached} - reached:
        reached |= more
    assert reached == set(JobState)
    assert all(any(old is state for old, _ in TRANSITIONS) for state in WAITING | HELD)


def test_only_a_claim_begins_a_run_and_only_running_jobs_are_asked_to_stop() -> None:
    assert sources(JobState.RUNNING) == (JobState.READY,)
    assert sources(JobState.CANCEL_REQUESTED) == (JobState.RUNNING,)
    assert "state = 'running'" in CLAIMED


@pytest.mark.parametrize(
    "clause", [settling.DONE, settling.DEAD, settling.CANCELLED, settling.RETRY, settling.CRASHED, settling.RELEASED]
)
def test_an_end_is_written_only_to_states_that_a_held_job_may_become(clause: str) -> None:
    change = clause[clause.rindex("state = ") :]
    written = {JobState(word) for word in re.findall(r"(?:THEN|ELSE|^state =) '(\w+)'", change)}
    assert written
    assert all((old, new) in TRANSITIONS for old in HELD for new in written if old is JobState.RUNNING or new in ENDED)


def test_the_idempotency_key_is_the_same_in_every_attempt() -> None:
    def job(attempt: int) -> Job:
        return Job(
            id=1, public_id="ab", queue="q", kind="k", key=None, payload_text="null", attempt=attempt, max_attempts=8,
            crashes=0, lease=Lease(token=str(attempt), worker="w"),
        )  # fmt: skip

    assert job(1).idempotency_key == job(2).idempotency_key == "ab"


def test_jobs_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        NewJob(kind="k").kind = "other"  # type: ignore[misc]
