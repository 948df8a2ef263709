"""The minutes that the audit proposes for starts that pile up, taken over into the plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.plan.model import PlannedJob


def spread(jobs: Iterable[PlannedJob], audit: Audit) -> list[PlannedJob]:
    """The jobs at the times that the audit proposes; a herd that a comment accepts stays together."""
    new = {entry: text for finding in audit.findings if finding.suppressed is None for entry, text in finding.moves}
    return [_moved(job, new[job.settings.entry]) if job.settings.entry in new else job for job in jobs]


def _moved(job: PlannedJob, schedule: str) -> PlannedJob:
    note = f"spread: {job.settings.schedule} before, when many starts fell into one minute"
    return replace(job, settings=replace(job.settings, schedule=schedule), notes=(*job.notes, note))
