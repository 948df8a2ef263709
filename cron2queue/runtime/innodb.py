"""What MySQL and MariaDB have in common beyond locks that can be skipped.

How their optimizer is brought to read a range; and how little is sent, since their driver is written in Python and takes each
cell of a row, and each parameter, into its hands.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from cron2queue.runtime.backend import Change, Row, Want
from cron2queue.runtime.database.session import RunCarefully, Session
from cron2queue.runtime.runs import Plain
from cron2queue.runtime.skip_locked import SkipLockedBackend

_RECORDS: Final = (
    "INSERT INTO {attempts} (job_id, run, number, lease, worker, outcome, wait_seconds, run_seconds, started_at, ended_at) "
    "SELECT j.id, j.runs, j.attempts, j.lease, j.worker, 'done', "
    "CASE WHEN j.started_at > j.ready_at THEN (j.started_at - j.ready_at) / 1e6 ELSE 0 END, d.seconds, "
    "{now} - CAST(d.seconds * 1000000 AS SIGNED), {now} FROM JSON_TABLE(?, '$[*]' COLUMNS "
    "(job BIGINT PATH '$[0]', seconds DOUBLE PATH '$[1]')) d JOIN {jobs} j ON j.id = d.job WHERE j.lease = CONCAT(?, j.id)"
)

_RARE: Final = ("job_key", "ordering_key", "owner", "trace_context", "limit_key")  # most jobs have none of them
_NONE_OF_THEM: Final = " AND ".join(f"{name} IS NULL" for name in _RARE)
_ALL_OF_THEM: Final = ", ".join(f"COALESCE(HEX({name}), '-')" for name in _RARE)
_PACKED: Final = (
    "CONCAT_WS(' ', id, public_id, attempts + 1, max_attempts, crashes, runs + 1, priority, "
    "COALESCE({now} - ready_at, 0), kind), payload, "
    f"CASE WHEN {_NONE_OF_THEM} THEN NULL ELSE CONCAT_WS(' ', {_ALL_OF_THEM}) END"
)


def _unpacked(row: Row) -> Row:
    """A row of _PACKED as one of CANDIDATE_COLUMNS."""
    packed, payload, rare = row
    job_id, public_id, attempt, most, crashes, run, priority, waited, kind = _text(packed).split(" ", 8)
    key = ordering_key = owner = trace = limit_key = None
    if rare is not None:
        known = [None if each == "-" else bytes.fromhex(each) for each in _text(rare).split(" ")]
        key, ordering_key, owner, trace, limit_key = known
    return (
        int(job_id), public_id, kind, key, payload, int(attempt), int(most), int(crashes), int(run), ordering_key, owner,
        None if trace is None else trace.decode(), limit_key, int(priority), int(waited),
    )  # fmt: skip


def _text(cell: str | bytes) -> str:
    """What is made of binary and other columns together may come as bytes."""
    return cell if isinstance(cell, str) else cell.decode()


class InnodbBackend(SkipLockedBackend):
    """Both compare rows of values without an index, and prefer a look-up by equality to a range of more columns.

    Left alone, they read over all dead entries before the mark; so the mark is spelt out and the index is named.
    """

    behind_mark: ClassVar[str] = "(priority > ? OR (priority = ? AND id > ?))"
    marked_table: ClassVar[str] = "{jobs} FORCE INDEX ({jobs}_claim)"
    candidate_columns: ClassVar[str] = _PACKED

    def candidates(self, session: Session, want: Want) -> list[Row]:
        """Three cells a row instead of fifteen."""
        return [_unpacked(row) for row in super().candidates(session, want)]

    def finish(self, session: Session, done: Change, claim: str, worker: str, ended: Sequence[Plain]) -> set[int]:
        """The records are made from the rows of the jobs, while the lease stands there: little has to be sent."""
        if session.careful:
            return super().finish(session, done, claim, worker, ended)
        told = "[" + ",".join([f"[{each.job_id},{each.seconds!r}]" for each in ended]) + "]"
        if session.changed(_RECORDS, (told, claim)) != len(ended):
            raise RunCarefully
        return self.fenced(session, *done, [(each.job_id, claim + str(each.job_id)) for each in ended])

    def mark_parameters(self, after: tuple[int, int] | None) -> Row:
        """The priority twice, as it is spelt out."""
        return () if after is None else (after[0], *after)
