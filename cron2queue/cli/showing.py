"""The looks of the operators' commands: ask the inspection one thing, show it as a screen or as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from cron2queue.cli.operation import Operation, moment, one_of
from cron2queue.cli.screens.canvas import Canvas, as_json, canvas, put, styled
from cron2queue.cli.screens.dead import dead_screen
from cron2queue.cli.screens.jobs import job_screen, jobs_screen
from cron2queue.cli.screens.queues import queue_lines
from cron2queue.cli.screens.records import SCHEMA, dead_record, job_record, jobs_record, queue_record, worker_record
from cron2queue.cli.screens.workers import worker_lines
from cron2queue.errors import UsageError
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.sight.inspection import Inspection, JobFilter


def jobs_filter(*, states: Sequence[str] | None, since: str | None, before: str | None, **asked: Any) -> JobFilter:
    """The filter of `jobs list`, from its options."""
    known = tuple(JobState)
    chosen = tuple(JobState(one_of(state, known, "--state")) for state in states or ())
    return JobFilter(states=chosen, created_since=moment(since, datetime.now(UTC)), before_id=before, **asked)


def dead_filter(*, queue: str | None, kind: str | None, error: str | None, since: str | None) -> JobFilter:
    """The filter of `dead list` and `dead requeue`."""
    return JobFilter(queue=queue, kind=kind, error=error, ended_since=moment(since, datetime.now(UTC)), states=(JobState.DEAD,))


def show(lines: Iterable[Text], room: Canvas) -> None:
    """Lines on stdout."""
    put(styled(room, lines))


def show_jobs(operation: Operation, wanted: JobFilter, format: str, *, color: str, ascii_only: bool, width: int | None) -> None:
    """`jobs list`."""
    room = canvas(width=width, color=color, ascii_only=ascii_only)
    with operation.inspection() as inspection:
        if wanted.before_id is not None:
            wanted = _after(inspection, wanted)
        found, now = inspection.jobs(wanted), inspection.now()
    if format == "json":
        put(as_json(jobs_record(found.jobs)))
        return
    show(jobs_screen(found.jobs, now, room, more=found.more, partial=found.partial), room)


def _after(inspection: Inspection, wanted: JobFilter) -> JobFilter:
    return replace(wanted, before_id=resolved(inspection, wanted.before_id or "", owner=wanted.owner))


def show_job(
    operation: Operation,
    public_id: str,
    format: str,
    *,
    owner: str | None,
    payload: bool,
    color: str,
    ascii_only: bool,
    width: int | None,
) -> None:
    """`jobs show`."""
    room = canvas(width=width, color=color, ascii_only=ascii_only)
    with operation.inspection() as inspection:
        job = inspection.job(resolved(inspection, public_id, owner=owner), owner=owner)
        now = inspection.now()
    if job is None:
        raise not_found(public_id)
    if format == "json":
        record = job_record(job, detailed=True)
        put(as_json(record | {"payload": job.payload} if payload else record))
        return
    show(job_screen(job, now, room, payload=payload), room)


def resolved(inspection: Inspection, beginning: str, *, owner: str | None) -> str:
    """The whole public id that begins like this; UsageError when there is none or more than one."""
    found = inspection.ids(beginning, owner=owner)
    if not found:
        raise not_found(beginning)
    if len(found) > 1:
        raise UsageError(f"several jobs begin with {beginning!r:.80}", remedy="give more of the id")
    return found[0]


def not_found(public_id: str) -> UsageError:
    """The same words for no such job and for another owner's."""
    return UsageError(f"no job {public_id!r:.80} is found", remedy="cron2queue jobs list shows the ids")


def show_dead(operation: Operation, wanted: JobFilter, format: str, *, color: str, ascii_only: bool, width: int | None) -> None:
    """`dead list`."""
    room = canvas(width=width, color=color, ascii_only=ascii_only)
    with operation.inspection() as inspection:
        dead, now = inspection.dead(wanted), inspection.now()
    if format == "json":
        put(as_json(dead_record(dead)))
        return
    show(dead_screen(dead, now, room), room)


def show_queues(operation: Operation, format: str, *, color: str, ascii_only: bool, width: int | None) -> None:
    """`queues list`."""
    room = canvas(width=width, color=color, ascii_only=ascii_only)
    with operation.inspection() as inspection:
        queues = inspection.queues(planned=operation.settings.queues if operation.settings else None)
    if format == "json":
        put(as_json({"schema": SCHEMA, "queues": [queue_record(queue) for queue in queues]}))
        return
    show(queue_lines(queues, room), room)


def show_workers(operation: Operation, format: str, *, color: str, ascii_only: bool, width: int | None) -> None:
    """`workers list`."""
    room = canvas(width=width, color=color, ascii_only=ascii_only)
    with operation.inspection() as inspection:
        workers = inspection.workers()
    if format == "json":
        put(as_json({"schema": SCHEMA, "workers": [worker_record(worker) for worker in workers]}))
        return
    show(worker_lines(workers, room), room)
