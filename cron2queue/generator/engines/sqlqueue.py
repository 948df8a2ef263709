"""Jobs in an SQL table: cron's line only enqueues, workers run the handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cron2queue.analyser.verdicts import Decision
from cron2queue.generator.engine import CannotConvert, CronCommand, Engine
from cron2queue.generator.handlers import handler_artifacts, producer_path
from cron2queue.generator.migrations import migration_artifacts
from cron2queue.generator.shell import sh_words
from cron2queue.generator.units import worker_artifacts
from cron2queue.generator.wrapping import Guard, guarded, tools
from cron2queue.plan.builder import SHADOW
from cron2queue.runtime.settings import PLAN_NAME, Overlap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.plan.model import Plan

ENQUEUE_SECONDS = 30
SPLIT_SECONDS = 300
GRACE_SECONDS = 5


class SqlQueue(Engine):
    """The native target. Every overlap policy and both scopes are kept by the unique key and the limits in the table."""

    overlaps: ClassVar[Mapping[Overlap, str]] = dict.fromkeys(Overlap, "")

    def refuse(self, move: Move, plan: Plan) -> None:
        """Also refuse a handler that would do in shadow what the old line does at the same time."""
        super().refuse(move, plan)
        if plan.project.shadow and move.job.settings.handler != SHADOW:
            raise CannotConvert(
                f"in shadow mode its handler {move.job.settings.handler} would do the work twice",
                remedy=f'set handler = "{SHADOW}" in its table',
            )

    def cron_command(self, move: Move, plan: Plan) -> CronCommand:
        """The producer's line; it holds nothing of the old command."""
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

    def artifacts(self, workshop: Workshop) -> list[Artifact]:
        """Migrations, handlers, producers and the workers' units."""
        if not workshop.moves:
            return []
        return [*migration_artifacts(workshop.plan), *handler_artifacts(workshop), *worker_artifacts(workshop)]
