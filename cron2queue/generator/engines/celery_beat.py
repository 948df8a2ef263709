"""As celery, without cron: Celery's beat enqueues the jobs at their times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from cron2queue.analyser.verdicts import Decision
from cron2queue.crontab.schedule import AtReboot
from cron2queue.generator.celery_files import celery_artifacts, refuse_for_celery
from cron2queue.generator.celery_schedule import beat_lines, fires_of
from cron2queue.generator.engine import CannotConvert, CronCommand, Engine
from cron2queue.generator.producer_line import producer_line
from cron2queue.runtime.settings import Overlap

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from cron2queue.crontab.schedule import Fire
    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.plan.model import Plan


class CeleryBeat(Engine):
    """Beat keeps the times, and each schedule is proved; its ticks go into the job table under the keys of cron's own."""

    overlaps: ClassVar[Mapping[Overlap, str]] = dict.fromkeys(Overlap, "")
    has_workers = True
    in_cron = False
    files_of = "celery"

    def refuse(self, move: Move, plan: Plan) -> None:
        """Also refuse producers of their own, and the shadow of a line that goes away."""
        super().refuse(move, plan)
        refuse_for_celery(move, plan)
        if move.job.decision is Decision.SPLIT:
            raise CannotConvert("beat starts no program, and a split entry has a producer", remedy='use engine "celery"')
        if plan.project.shadow:
            raise CannotConvert("beat cannot stand beside the old line in shadow mode", remedy='use engine "celery"')

    def cron_command(self, move: Move, plan: Plan) -> CronCommand | None:
        """Nothing stays in the crontab, but what starts with the machine: beat cannot tell that from a start of its own."""
        return producer_line(move, plan) if isinstance(move.entry.schedule, AtReboot) else None

    def fires(self, move: Move, start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[Fire]:
        """When beat enqueues the job."""
        return fires_of(beat_lines(move.entry.schedule, zone, start), start, end)

    def artifacts(self, workshop: Workshop) -> list[Artifact]:
        """Celery writes them: one application and one set of units for the jobs of both."""
        return celery_artifacts(workshop)
