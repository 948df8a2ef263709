"""All kinds that the workers of a plan know: those of its jobs, and those of the handler modules that it names."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cron2queue.runtime.settings import JobSettings, Settings, read_settings
from cron2queue.runtime.worker.nursery import Nursery
from cron2queue.runtime.worker.options import WorkerOptions

QUEUED = ("queue", "split")


def settings_of(plan: Path) -> Settings:
    """The plan, with a job for each kind of its modules. Raises UsageError or InputError, also for their own errors."""
    settings = read_settings(plan)
    if not settings.project.handlers:
        return settings
    return replace(settings, jobs={**settings.jobs, **dict(_of_modules(settings, plan))})


def _of_modules(settings: Settings, plan: Path) -> Iterator[tuple[str, JobSettings]]:
    """Learnt from the process that loads them for the workers: nothing of them is imported here."""
    nursery = Nursery(WorkerOptions(database=settings.project.database, plan=plan, queues={}))
    nursery.start()
    nursery.close()
    known = {job.kind for job in settings.jobs.values() if job.decision in QUEUED}
    for kind, each in nursery.kinds.items():
        if kind not in known:
            own = JobSettings(name=kind, kind=kind, queue=each.queue, timeout=each.timeout, grace=each.grace)
            yield f"{kind} of a module", own
