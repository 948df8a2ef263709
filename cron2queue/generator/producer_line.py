"""The crontab line of work that goes into the job table: it enqueues, and holds nothing of the old command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Decision
from cron2queue.generator.engine import CannotConvert, CronCommand
from cron2queue.generator.handlers import producer_path
from cron2queue.generator.shell import sh_words
from cron2queue.generator.wrapping import Guard, guarded, tools
from cron2queue.plan.builder import SHADOW
from cron2queue.runtime.settings import PLAN_NAME

if TYPE_CHECKING:
    from cron2queue.generator.engine import Move
    from cron2queue.plan.model import Plan

ENQUEUE_SECONDS = 30
SPLIT_SECONDS = 300
GRACE_SECONDS = 5


def refuse_work_in_shadow(move: Move, plan: Plan) -> None:
    """Raise CannotConvert for a handler that would do in shadow what the old line does at the same time."""
    if plan.project.shadow and move.job.settings.handler != SHADOW:
        raise CannotConvert(
            f"in shadow mode its handler {move.job.settings.handler} would do the work twice",
            remedy=f'set handler = "{SHADOW}" in its table',
        )


def producer_line(move: Move, plan: Plan) -> CronCommand:
    """The guarded command of the producer, and the files that it needs."""
    project, settings = plan.project, move.job.settings
    split = move.job.decision is Decision.SPLIT
    if split:
        producer = f"{project.folder}/{producer_path(settings.name, project.language)}"
        command, needs = sh_words(producer), [producer]
    else:
        plan_file = f"{project.folder}/{PLAN_NAME}"
        # --quiet: cron mails whatever a line prints. -I: neither the crontab's PYTHON* variables nor files in the
        # home of its user may replace a module.
        enqueue = ("-I", "-m", "cron2queue.runtime", "enqueue", settings.name, "--plan", plan_file, "--tick", "--quiet")
        command, needs = sh_words(project.python, *enqueue), [project.python, plan_file]
    lock = f"{project.lock_folder}/enqueue-{settings.name}.lock"
    guard = Guard(
        name=settings.name,
        lock=lock,
        timeout=SPLIT_SECONDS if split else ENQUEUE_SECONDS,
        grace=GRACE_SECONDS,
        tell=False,
    )
    wrapped = guarded(command, guard, shell=settings.shell, userland=project.userland)
    return CronCommand(command=wrapped, needs=(lock, *needs, *tools(project.userland)))
