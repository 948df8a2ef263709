"""Jobs in an SQL table: cron's line only enqueues, workers run the handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cron2queue.generator.engine import CronCommand, Engine
from cron2queue.generator.handlers import handler_artifacts
from cron2queue.generator.migrations import migration_artifacts
from cron2queue.generator.producer_line import producer_line, refuse_work_in_shadow
from cron2queue.generator.units import worker_artifacts
from cron2queue.generator.upkeep import upkeep_artifacts
from cron2queue.runtime.settings import Overlap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.plan.model import Plan


class SqlQueue(Engine):
    """The native target. Every overlap policy and both scopes are kept by the unique key and the limits in the table."""

    overlaps: ClassVar[Mapping[Overlap, str]] = dict.fromkeys(Overlap, "")
    has_workers = True

    def refuse(self, move: Move, plan: Plan) -> None:
        """Also refuse a handler that would do in shadow what the old line does at the same time."""
        super().refuse(move, plan)
        refuse_work_in_shadow(move, plan)

    def cron_command(self, move: Move, plan: Plan) -> CronCommand:
        """The producer's line; it holds nothing of the old command."""
        return producer_line(move, plan)

    def artifacts(self, workshop: Workshop) -> list[Artifact]:
        """Migrations, handlers, producers, the workers' units, and what runs by itself beside them."""
        if not workshop.moves:
            return []
        return [
            *migration_artifacts(workshop.plan),
            *handler_artifacts(workshop),
            *worker_artifacts(workshop),
            *upkeep_artifacts(workshop),
        ]
