"""json: everything, for programs; the schema lies beside the reporters as audit.schema.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from cron2queue.report.document import document
from cron2queue.report.reporter import RenderOptions, Reporter
from cron2queue.report.written import pieces

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit


class JsonReporter(Reporter):
    """One object, schema 1: keys are only ever added within it."""

    name: ClassVar[str] = "json"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """Indented JSON; with `ascii` every other character is escaped."""
        return pieces(document(audit), ascii_only=options.ascii)
