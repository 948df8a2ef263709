"""concise: one line a finding, `path:line:col: CODE severity message`, for editors and grep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from cron2queue.report.figures import all_places, standing
from cron2queue.report.reporter import RenderOptions, Reporter
from cron2queue.report.shown import shown

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding


class ConciseReporter(Reporter):
    """Every finding that counts, each of its places on a line of its own; nothing else."""

    name: ClassVar[str] = "concise"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """Worst first; a missing line or column is 1, as editors want it."""
        yield from (f"{line}\n" for finding in standing(audit) for line in _lines(finding, options))


def _lines(finding: Finding, options: RenderOptions) -> list[str]:
    said = shown(f"{finding.code} {finding.severity} {finding.message}", ascii_only=options.ascii)
    return [
        f"{shown(place.path, ascii_only=options.ascii)}:{place.line or 1}:{place.column or 1}: {said}"
        for place in all_places([finding])
    ]
