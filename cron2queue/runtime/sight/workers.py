"""Workers: who is registered, who still beats, what each runs."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.sight.queues import capped
from cron2queue.runtime.sight.views import Count, RunningView, WorkerView
from cron2queue.runtime.tables import Tables

ALIVE_SECONDS = 30.0  # the lease time: for people only, since nothing is decided by this clock
MOST_WORKERS = 500
RUNNING_SHOWN = 50


def workers(connection: Connection, tables: Tables, now: datetime) -> tuple[WorkerView, ...]:
    """Every registered worker with the jobs it holds."""
    found = connection.execute(select(tables.workers).order_by(tables.workers.c.started_at).limit(MOST_WORKERS)).all()
    return tuple(_worker(row, now, *_held(connection, tables, row.token, now)) for row in found)


def _worker(row: Any, now: datetime, running: tuple[RunningView, ...], holds: Count) -> WorkerView:
    silence = max(0.0, (now - row.beat_at).total_seconds())
    return WorkerView(
        worker=row.token,
        host=row.host,
        pid=row.pid,
        version=row.version,
        queues=_list(row.queues),
        kinds=_list(row.kinds),
        alive=silence < ALIVE_SECONDS,
        beat_age=silence,
        rss_bytes=row.rss_bytes,
        started_at=row.started_at,
        running=running,
        holds=holds,
    )


def _list(text: str) -> tuple[str, ...]:
    try:
        read = json.loads(text)
    except ValueError:
        return ()
    return tuple(str(each) for each in read) if isinstance(read, list) else ()


def _held(connection: Connection, tables: Tables, token: str, now: datetime) -> tuple[tuple[RunningView, ...], Count]:
    jobs = tables.jobs.c
    held = select(jobs.id).where(jobs.worker == token)
    columns = (jobs.public_id, jobs.kind, jobs.job_key, jobs.queue, jobs.state, jobs.started_at, jobs.progress, jobs.phase)
    rows = connection.execute(select(*columns).where(jobs.worker == token).order_by(jobs.started_at).limit(RUNNING_SHOWN)).all()
    holds = Count(n=len(rows)) if len(rows) < RUNNING_SHOWN else capped(connection, held)
    return tuple(_running(row, now) for row in rows), holds


def _running(row: Any, now: datetime) -> RunningView:
    return RunningView(
        id=row.public_id,
        kind=row.kind,
        key=row.job_key,
        queue=row.queue,
        seconds=None if row.started_at is None else max(0.0, (now - row.started_at).total_seconds()),
        fraction=row.progress,
        phase=row.phase,
        cancel_requested=row.state == JobState.CANCEL_REQUESTED,
    )


def known_kinds(found: tuple[WorkerView, ...]) -> Mapping[str, frozenset[str]]:
    """By queue: the kinds that its living workers know."""
    known: dict[str, set[str]] = {}
    for worker in found:
        for queue in worker.queues if worker.alive else ():
            known.setdefault(queue, set()).update(worker.kinds)
    return {queue: frozenset(kinds) for queue, kinds in known.items()}
