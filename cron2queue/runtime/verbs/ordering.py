"""Strict order by key: one job at a time has the turn, in the order of ids, even through retries.

The turn is a column with a unique index, so that no race can give it twice. Whoever ends a job passes the turn on, in
the same transaction, and looks once more after it; what falls between (a killed process) is found by the sweep.
"""

from collections.abc import Sequence

from cron2queue.runtime.backend import Backend
from cron2queue.runtime.database.exact import to_text
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.limits import turn_of


def turn_of_bytes(ordering_key: bytes) -> bytes:
    """The turn of an ordering key as it stands in the row."""
    return turn_of(to_text(ordering_key))


def holder(session: Session, turn: bytes) -> bool:
    """Whether some job has this turn."""
    return session.value("SELECT id FROM {jobs} WHERE turn = ?", (turn,)) is not None


def pass_on(session: Session, backend: Backend, turn: bytes) -> bool:
    """Give the turn to the first job that waits for it, unless another has it. True if one got it."""
    first = session.value("SELECT id FROM {jobs} WHERE held_by = ? ORDER BY held_rank, id LIMIT 1", (turn,))
    if first is None or holder(session, turn):
        return False
    statement = (
        "UPDATE {jobs} SET turn = ?, held_by = NULL, held_rank = NULL, "
        "due_at = CASE WHEN run_at > {now} THEN run_at ELSE NULL END, "
        "ready_at = CASE WHEN run_at > {now} THEN NULL ELSE {now} END, "
        "state = CASE WHEN run_at > {now} THEN 'scheduled' ELSE 'ready' END "
        "WHERE id = ? AND state = 'blocked'"
    )
    return backend.try_write(session, statement, (turn, first))


def pass_all_on(session: Session, backend: Backend, turns: Sequence[bytes]) -> int:
    """Look once more for jobs that wait for these turns, after the transaction that left them."""
    return sum(pass_on(session, backend, turn) for turn in turns)
