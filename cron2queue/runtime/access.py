"""Jobs for the users of an application: what a principal may see and do, and nothing of anybody else.

    jobs = JobAccess(store, principal=request.user.id)
    accepted = jobs.enqueue(NewJob(kind="export", payload={"month": "2026-11"}))
    jobs.status(accepted.public_id)

The owner is compared in the SQL of lists and items alike. A job of another owner and a job that does not exist are the
same NotFound. Users get the safe message of a job; diagnostics, output and workers' names are for operators.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime.database.instants import from_micros
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.jobs import ENDED, Enqueued, JobState, NewJob
from cron2queue.runtime.store import Store

MOST_LISTED = 200
_ID = re.compile(r"[A-Za-z0-9_-]{1,32}")
_COLUMNS = "public_id, kind, state, progress, phase, message, result_ref, created_at, started_at, finished_at, {now}"


class NotFound(Cron2QueueError):
    """There is no such job for this principal."""

    exit_status: ClassVar[int] = 2


class NotDone(Cron2QueueError):
    """The job has no result: it has not ended, or not well. `state` tells which."""

    exit_status: ClassVar[int] = 75

    def __init__(self, state: JobState) -> None:
        super().__init__(f"the job is {state}", remedy="ask again later" if state not in ENDED else "its message tells why")
        self.state = state


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """What a user may know of a job. `accepted` is not `done`: only `state` says how far it is.

    `ask_again_seconds` is when the next question makes sense; None when the answer will not change any more.
    """

    id: str
    kind: str
    state: JobState
    message: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    fraction: float | None
    phase: str | None
    ask_again_seconds: int | None

    @property
    def ended(self) -> bool:
        """Succeeded, dead or cancelled."""
        return self.state in ENDED


class JobAccess:
    """The jobs of one principal."""

    def __init__(self, store: Store, *, principal: str) -> None:
        if not isinstance(principal, str) or not principal:  # None must never come to mean everybody
            raise UsageError("a principal is needed", remedy="give the id of the user who asks")
        self._store = store
        self._principal = principal
        self._owner = principal.encode("utf-8", "surrogateescape")

    def enqueue(self, job: NewJob) -> Enqueued:
        """Accept a job that belongs to the principal, whatever `owner` it names.

        Its key is the principal's own too: another user's equal key is another job, and its id is not given away.
        """
        key = None if job.key is None else f"{self._principal}\x1f{job.key}"
        return self._store.enqueue(job.but(owner=self._principal, key=key))

    def status(self, public_id: str) -> JobStatus:
        """How far a job is. Raises NotFound."""
        return _status(self._row(public_id))

    def result(self, public_id: str) -> str | None:
        """Where the result of a job lies, as its handler said. Raises NotFound, NotDone."""
        row = self._row(public_id)
        if row[2] != JobState.SUCCEEDED:
            raise NotDone(JobState(row[2]))
        return None if row[6] is None else str(row[6])

    def cancel(self, public_id: str) -> JobStatus:
        """Cancel what has not begun, ask what runs to stop; what has ended stays as it is. Raises NotFound."""
        _plausible(public_id)
        if self._store.cancel(public_id, by=self._principal, principal=self._principal) is None:
            raise _not_found()
        return self.status(public_id)

    def list(self, *, limit: int = 50, before: str | None = None) -> Sequence[JobStatus]:
        """The newest jobs of the principal; `before` is the id of the last one of the page before. Raises NotFound for it."""
        limit = max(1, min(limit, MOST_LISTED))
        if before is not None:
            _plausible(before)
        return self._store.sessions.read(lambda session: self._page(session, limit, before))

    def _page(self, session: Session, limit: int, before: str | None) -> Sequence[JobStatus]:
        query, parameters = f"SELECT {_COLUMNS} FROM {{jobs}} WHERE owner = ?", [self._owner]
        if before is not None:
            place = session.value("SELECT id FROM {jobs} WHERE public_id = ? AND owner = ?", (before, self._owner))
            if place is None:
                raise _not_found()
            query += " AND id < ?"
            parameters.append(place)
        return [_status(row) for row in session.rows(query + " ORDER BY id DESC LIMIT ?", [*parameters, limit])]

    def _row(self, public_id: str) -> tuple[Any, ...]:
        _plausible(public_id)
        query = f"SELECT {_COLUMNS} FROM {{jobs}} WHERE public_id = ? AND owner = ?"
        row = self._store.sessions.read(lambda session: session.row(query, (public_id, self._owner)))
        if row is None:
            raise _not_found()
        return row


def _plausible(public_id: str) -> None:
    """Spare the database what cannot be an id: some refuse to compare it."""
    if not _ID.fullmatch(public_id):
        raise _not_found()


def _not_found() -> NotFound:
    return NotFound("no such job", remedy="ask by the id that was given when it was accepted")


def _status(row: Sequence[Any]) -> JobStatus:
    state, created, now = JobState(row[2]), int(row[7]), int(row[10])
    return JobStatus(
        id=row[0],
        kind=row[1],
        state=state,
        message=row[5] or "",
        created_at=from_micros(created),
        started_at=None if row[8] is None else from_micros(int(row[8])),
        finished_at=None if row[9] is None or state not in ENDED else from_micros(int(row[9])),
        fraction=None if row[3] is None else float(row[3]),
        phase=row[4],
        ask_again_seconds=None if state in ENDED else _patience((now - created) / 1e6),
    )


def _patience(age: float) -> int:
    """The longer a job takes, the less often it makes sense to ask: a tenth of its age, from 1 to 30 seconds."""
    return int(max(1, min(30, age / 10)))
