"""The looks of the operators' commands: ask the inspection one thing, show it as a screen or as JSON."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from cron2queue.cli.operation import moment, one_of
from cron2queue.cli.operators import Look
from cron2queue.cli.screens.canvas import as_json, put, styled
from cron2queue.cli.screens.dead import dead_screen
from cron2queue.cli.screens.jobs import job_screen, jobs_screen
from cron2queue.cli.screens.queues import queue_lines, queue_screen
from cron2queue.cli.screens.records import (
    SCHEMA,
    action_record,
    dead_record,
    job_record,
    jobs_record,
    queue_record,
    worker_record,
)
from cron2queue.cli.screens.workers import worker_lines
from cron2queue.errors import UsageError
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.plan_tables import did_you_mean
from cron2queue.runtime.sight.inspection import Inspection, JobFilter


def jobs_filter(*, states: Sequence[str] | None, since: str | None, before: str | None, **asked: Any) -> JobFilter:
    """The filter of `jobs list`, from its options."""
    known = tuple(JobState)
    chosen = tuple(JobState(one_of(state, known, "--state")) for state in states or ())
    return JobFilter(states=chosen, created_since=moment(since, datetime.now(UTC)), before_id=before, **asked)


def dead_filter(*, queue: str | None, kind: str | None, error: str | None, since: str | None) -> JobFilter:
    """The filter of `dead list` and `dead requeue`."""
    return JobFilter(queue=queue, kind=kind, error=error, ended_since=moment(since, datetime.now(UTC)), states=(JobState.DEAD,))


def _put(look: Look, record: Callable[[], Any], screen: Callable[[], Iterable[Text]]) -> None:
    """On stdout, as JSON or as a screen."""
    put(as_json(record()) if look.format == "json" else styled(look.room, screen()))


def show_jobs(look: Look, wanted: JobFilter) -> None:
    """`jobs list`."""
    with look.where.inspection() as inspection:
        if wanted.before_id is not None:
            wanted = _after(inspection, wanted)
        found, now = inspection.jobs(wanted), inspection.now()
    _put(
        look,
        lambda: jobs_record(found.jobs),
        lambda: jobs_screen(found.jobs, now, look.room, more=found.more, partial=found.partial),
    )


def _after(inspection: Inspection, wanted: JobFilter) -> JobFilter:
    return replace(wanted, before_id=resolved(inspection, wanted.before_id or "", owner=wanted.owner))


def show_job(look: Look, public_id: str, *, owner: str | None, payload: bool) -> None:
    """`jobs show`."""
    with look.where.inspection() as inspection:
        job = inspection.job(resolved(inspection, public_id, owner=owner), owner=owner)
        now = inspection.now()
    if job is None:
        raise not_found(public_id)
    _put(
        look,
        lambda: job_record(job, detailed=True) | ({"payload": job.payload} if payload else {}),
        lambda: job_screen(job, now, look.room, payload=payload),
    )


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


def show_dead(look: Look, wanted: JobFilter) -> None:
    """`dead list`."""
    with look.where.inspection() as inspection:
        dead, letters, now = inspection.dead(wanted), inspection.letters(wanted), inspection.now()
    _put(look, lambda: dead_record(dead, letters), lambda: dead_screen(dead, letters, now, look.room))


def show_queues(look: Look) -> None:
    """`queues list`."""
    settings = look.where.settings
    with look.where.inspection() as inspection:
        queues = inspection.queues(planned=settings.queues if settings else None)
    _put(
        look,
        lambda: {"schema": SCHEMA, "queues": [queue_record(queue) for queue in queues]},
        lambda: queue_lines(queues, look.room),
    )


def show_queue(look: Look, name: str) -> None:
    """`queues show`."""
    settings = look.where.settings
    with look.where.inspection() as inspection:
        queues = {each.queue: each for each in inspection.queues(planned=settings.queues if settings else None)}
        if name not in queues:
            raise UsageError(f"no plan, job or worker has named the queue {name!r:.80}", remedy=did_you_mean(name, queues))
        actions, now = inspection.actions_on(name), inspection.now()
    _put(
        look,
        lambda: {"schema": SCHEMA, **queue_record(queues[name]), "actions": [action_record(each) for each in actions]},
        lambda: queue_screen(queues[name], actions, now, look.room),
    )


def show_workers(look: Look) -> None:
    """`workers list`."""
    with look.where.inspection() as inspection:
        workers = inspection.workers()
    _put(
        look,
        lambda: {"schema": SCHEMA, "workers": [worker_record(worker) for worker in workers]},
        lambda: worker_lines(workers, look.room),
    )
