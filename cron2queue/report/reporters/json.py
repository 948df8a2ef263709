"""json: everything, for programs; the schema lies beside the reporters as audit.schema.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from cron2queue.report.document import document
from cron2queue.report.reporter import RenderOptions, Reporter

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit


class JsonReporter(Reporter):
    """One object, schema 1: keys are only ever added within it."""

    name: ClassVar[str] = "json"

    def write(self, audit: Audit, options: RenderOptions) -> str:
        """Indented JSON; with `ascii` every other character is escaped."""
        return json.dumps(document(audit), indent=2, ensure_ascii=options.ascii, allow_nan=False) + "\n"
