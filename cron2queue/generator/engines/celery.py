"""Jobs run by Celery on RabbitMQ: cron's line enqueues into the job table, a relay carries the ids to the broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from cron2queue.generator.celery_files import celery_artifacts, refuse_for_celery
from cron2queue.generator.engine import CronCommand, Engine
from cron2queue.generator.producer_line import producer_line
from cron2queue.runtime.settings import Overlap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.engine import Move, Workshop
    from cron2queue.plan.model import Plan


class Celery(Engine):
    """For who outgrows one database. The job table stays the record, so that every policy and both scopes are kept by it."""

    overlaps: ClassVar[Mapping[Overlap, str]] = dict.fromkeys(Overlap, "")
    has_workers = True

    def refuse(self, move: Move, plan: Plan) -> None:
        """Also refuse what Celery would do otherwise than the plan says."""
        super().refuse(move, plan)
        refuse_for_celery(move, plan)

    def cron_command(self, move: Move, plan: Plan) -> CronCommand:
        """The producer's line, as with workers of our own."""
        return producer_line(move, plan)

    def artifacts(self, workshop: Workshop) -> list[Artifact]:
        """The application, migrations, handlers, producers and the units of relay, workers and beat."""
        return celery_artifacts(workshop)
