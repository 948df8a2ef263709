"""Jobs one by one and in lists. Lists and items go through the same owner filter, in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.sight.views import ActionView, AttemptView, JobView
from cron2queue.runtime.tables import Tables
from cron2queue.text import cut_bytes

MOST_ATTEMPTS = 200
MOST_ACTIONS = 100
MOST_ENDED = 1_000
SHORTEST_BEGINNING = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs; None does not ask. `owner` None is an operator's look: everybody's jobs.

    `error` is a part of the job's message. `before_id` pages: it is the public id of the last job already seen.
    """

    queue: str | None = None
    kind: str | None = None
    key: str | None = None
    states: tuple[JobState, ...] = ()
    owner: str | None = None
    created_since: datetime | None = None
    ended_since: datetime | None = None
    error: str | None = None
    before_id: str | None = None
    limit: int = 50


def impossible(wanted: JobFilter) -> bool:
    """Whether a word of the filter can be no name or id at all: MySQL refuses to compare such words."""
    return not all((word or "").isascii() for word in (wanted.queue, wanted.kind, wanted.before_id))


def conditions(tables: Tables, wanted: JobFilter) -> list[ColumnElement[bool]]:
    """The filter in SQL: the one place where an owner is compared."""
    jobs = tables.jobs.c
    asked: list[ColumnElement[bool]] = []
    if wanted.owner is not None:
        asked.append(jobs.owner == wanted.owner)
    for column, word in ((jobs.queue, wanted.queue), (jobs.kind, wanted.kind)):
        if word is not None:
            asked.append(column == word)
    if wanted.key is not None:
        asked.append(jobs.job_key == wanted.key)
    if wanted.created_since is not None:
        asked.append(jobs.created_at >= wanted.created_since)
    if wanted.ended_since is not None:
        asked.append(jobs.finished_at >= wanted.ended_since)
    if wanted.error is not None:
        asked.append(jobs.message.contains(cut_bytes(wanted.error, 1000), autoescape=True))
    if wanted.states:
        asked.append(jobs.state.in_(wanted.states))
    return asked


def job(connection: Connection, tables: Tables, public_id: str, *, owner: str | None = None) -> JobView | None:
    """One job with every attempt, or None: for another owner's job the same None as for no job."""
    if not public_id.isascii():
        return None
    found = connection.execute(
        select(tables.jobs).where(tables.jobs.c.public_id == public_id, *conditions(tables, JobFilter(owner=owner)))
    ).first()
    if found is None:
        return None
    return view(found, history=attempts(connection, tables, found.id), actions=actions(connection, tables, found.id))


def ids(connection: Connection, tables: Tables, beginning: str, *, owner: str | None = None) -> tuple[str, ...]:
    """Up to two public ids that begin like this; fewer than six letters are taken as a whole id only."""
    jobs = tables.jobs.c
    if not beginning.isascii():
        return ()
    exact = jobs.public_id == beginning
    fits = exact if len(beginning) < SHORTEST_BEGINNING else jobs.public_id.between(beginning, beginning + "g")
    chosen = select(jobs.public_id).where(fits, *conditions(tables, JobFilter(owner=owner)))
    return tuple(connection.execute(chosen.order_by(jobs.public_id).limit(2)).scalars())


def view(row: Any, *, history: tuple[AttemptView, ...] = (), actions: tuple[ActionView, ...] = ()) -> JobView:
    """The row as operators see it."""
    return JobView(
        id=row.public_id,
        kind=row.kind,
        key=row.job_key,
        queue=row.queue,
        state=row.state,
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        crashes=row.crashes,
        priority=row.priority,
        run_at=row.run_at,
        created_at=row.created_at,
        ready_at=row.ready_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        cancel_requested_at=row.cancel_requested_at,
        cancel_requested_by=row.cancel_requested_by,
        fraction=row.progress,
        phase=row.phase,
        owner=row.owner,
        worker=row.worker,
        ordering_key=row.ordering_key,
        result=row.result_ref,
        message=row.message or "",
        payload=row.payload,
        history=history,
        actions=actions,
    )


def attempts(connection: Connection, tables: Tables, job_id: int) -> tuple[AttemptView, ...]:
    """The finished attempts of a job, oldest first; of very many, the newest."""
    done = tables.attempts.c
    rows = connection.execute(
        select(tables.attempts).where(done.job_id == job_id).order_by(done.run.desc()).limit(MOST_ATTEMPTS)
    ).all()
    return tuple(_attempt(row) for row in reversed(rows))


def _attempt(row: Any) -> AttemptView:
    return AttemptView(
        attempt=row.number,
        worker=row.worker,
        started_at=row.started_at,
        ended_at=row.ended_at,
        outcome=row.outcome,
        exit_status=row.exit_status,
        signal=row.signal_number,
        wait_seconds=row.wait_seconds,
        run_seconds=row.run_seconds,
        max_rss_bytes=row.max_rss_bytes,
        message=row.message or "",
        diagnostic=row.diagnostic or "",
        output_tail=row.output_tail or "",
    )


def actions(connection: Connection, tables: Tables, job_id: int) -> tuple[ActionView, ...]:
    """What operators did to a job, oldest first."""
    done = tables.operations.c
    rows = connection.execute(
        select(tables.operations).where(done.job_id == job_id).order_by(done.id.desc()).limit(MOST_ACTIONS)
    ).all()
    return tuple(action(row) for row in reversed(rows))


def actions_on(connection: Connection, tables: Tables, target: str) -> tuple[ActionView, ...]:
    """What operators did to something that is no job, oldest first; of very many, the newest."""
    done = tables.operations.c
    chosen = select(tables.operations).where(done.job_id.is_(None), done.target == target)
    rows = connection.execute(chosen.order_by(done.id.desc()).limit(MOST_ACTIONS)).all()
    return tuple(action(row) for row in reversed(rows))


def action(row: Any) -> ActionView:
    """One line of the operators' log."""
    return ActionView(at=row.done_at, by=row.done_by, action=row.verb, target=row.target, details=row.detail or "")


def ended(
    connection: Connection, tables: Tables, after: datetime, until: datetime, states: Sequence[JobState]
) -> tuple[JobView, ...]:
    """Jobs that ended in one of the states within (after, until], with their attempts, oldest end first."""
    jobs = tables.jobs.c
    chosen = select(tables.jobs).where(jobs.finished_at > after, jobs.finished_at <= until, jobs.state.in_(states))
    rows = connection.execute(chosen.order_by(jobs.finished_at).limit(MOST_ENDED)).all()
    return tuple(view(row, history=attempts(connection, tables, row.id)) for row in rows)
