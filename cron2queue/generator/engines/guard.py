"""Stay in cron, with a lock, a time limit and a line in the log when a start is skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cron2queue.generator.engine import CronCommand, Engine
from cron2queue.generator.wrapping import Guard, guarded, tools
from cron2queue.runtime.settings import Overlap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.plan.model import Plan

_NO_QUEUE = "a lock has no memory of starts that wait; make it a queue job"


class GuardEngine(Engine):
    """`flock` and `timeout` around the unchanged command. Nothing but the crontab is needed, and the lock folder."""

    overlaps: ClassVar[Mapping[Overlap, str]] = {
        Overlap.SKIP: "",
        Overlap.WAIT: "",
        Overlap.PARALLEL: "",
        Overlap.MERGE: _NO_QUEUE,
        Overlap.QUEUE: _NO_QUEUE,
        Overlap.REPLACE: "a lock cannot stop the run that holds it; make it a queue job",
    }
    database_scope = "a lock file is seen by one host only; use `cron2queue lock --scope database`, or make it a queue job"

    def cron_command(self, move: Move, plan: Plan) -> CronCommand:
        """The old command, guarded; its input and its redirections stay."""
        settings = move.job.settings
        lock = None if settings.overlap is Overlap.PARALLEL else f"{plan.project.lock_folder}/{settings.name}.lock"
        timeout = int(settings.timeout or 0)
        guard = Guard(
            name=settings.name,
            lock=lock,
            timeout=timeout,
            grace=int(settings.grace),
            wait=timeout if settings.overlap is Overlap.WAIT else None,
        )
        command = guarded(move.entry.command, guard, shell=settings.shell, userland=plan.project.userland)
        return CronCommand(
            command=command, stdin=move.entry.stdin, needs=(*((lock,) if lock else ()), *tools(plan.project.userland))
        )

    def artifacts(self, workshop: Workshop) -> list[Artifact]:
        """None: the lock files stand in the tmpfiles.d file that every plan has."""
        return []
