"""The states of a job, and every change of state that may be written, as data."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class JobState(StrEnum):
    """Where a job is in its life. `succeeded`, `dead` and `cancelled` are ends; *accepted* is never shown as *done*."""

    SCHEDULED = "scheduled"
    READY = "ready"
    BLOCKED = "blocked"
    RUNNING = "running"
    CANCEL_REQUESTED = "cancel_requested"
    SUCCEEDED = "succeeded"
    DEAD = "dead"
    CANCELLED = "cancelled"


_S = JobState

# Every change of state that may be written, with the reason for it. Guards, tests and the picture in the docs come from here.
TRANSITIONS: Final[Mapping[tuple[JobState, JobState], str]] = {
    (_S.SCHEDULED, _S.READY): "its time has come",
    (_S.SCHEDULED, _S.CANCELLED): "cancelled before it began",
    (_S.READY, _S.RUNNING): "claimed by a worker",
    (_S.READY, _S.BLOCKED): "its kind or key is at its limit",
    (_S.READY, _S.SCHEDULED): "its kind is paused or over its rate until a known time",
    (_S.READY, _S.CANCELLED): "cancelled before it began",
    (_S.BLOCKED, _S.READY): "the job before it has ended, or a slot is free",
    (_S.BLOCKED, _S.SCHEDULED): "its turn has come before its time",
    (_S.BLOCKED, _S.CANCELLED): "cancelled before it began",
    (_S.RUNNING, _S.SUCCEEDED): "done",
    (_S.RUNNING, _S.SCHEDULED): "failed, to be tried again later",
    (_S.RUNNING, _S.READY): "released unused, or rescued from a crash",
    (_S.RUNNING, _S.DEAD): "given up, attempts used up, or crashed too often",
    (_S.RUNNING, _S.CANCEL_REQUESTED): "asked to stop",
    (_S.RUNNING, _S.CANCELLED): "its handler stopped of its own accord",
    (_S.CANCEL_REQUESTED, _S.CANCELLED): "stopped as asked, or ended without success",
    (_S.CANCEL_REQUESTED, _S.SUCCEEDED): "was done before it could stop",
    (_S.CANCEL_REQUESTED, _S.DEAD): "given up before it could stop",
    (_S.DEAD, _S.READY): "requeued by an operator; attempts start anew",
    (_S.DEAD, _S.SCHEDULED): "requeued by an operator, spread over time",
    (_S.DEAD, _S.BLOCKED): "requeued by an operator, behind others of its ordering key",
}

HELD: Final = frozenset({_S.RUNNING, _S.CANCEL_REQUESTED})  # a worker has a lease on it
WAITING: Final = frozenset({_S.SCHEDULED, _S.READY, _S.BLOCKED})  # not begun, or to be begun again
ENDED: Final = frozenset({_S.SUCCEEDED, _S.DEAD, _S.CANCELLED})

MAX_CRASHES: Final = 3  # a job that took its worker down this often is dead, however many attempts are left


def sources(to: JobState) -> tuple[JobState, ...]:
    """The states from which a job may become `to`, in the order of the enum."""
    return tuple(state for state in JobState if (state, to) in TRANSITIONS)
