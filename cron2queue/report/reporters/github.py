"""github: workflow commands that GitHub Actions turns into annotations on the lines of a crontab in a repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from cron2queue.report.figures import all_places, standing
from cron2queue.report.reporter import RenderOptions, Reporter
from cron2queue.report.shown import shown

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding, Place

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
# The runner reads % escapes in data, and in properties : and , besides.
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


class GithubReporter(Reporter):
    """One annotation a finding and place."""

    name: ClassVar[str] = "github"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """`::error file=...,line=...::message`, one a line."""
        yield from (f"{_command(finding, place)}\n" for finding in standing(audit) for place in all_places([finding]))


def _command(finding: Finding, place: Place) -> str:
    properties = {"file": place.path, "line": place.line or 1, "col": place.column, "title": f"{finding.code} {finding.rule}"}
    given = ",".join(
        f"{key}={shown(str(value)).translate(_PROPERTY)}" for key, value in properties.items() if value is not None
    )
    words = [finding.message, finding.evidence, f"remedy: {finding.remedy}" if finding.remedy else ""]
    said = "\n".join(shown(each) for each in words if each)
    return f"::{_LEVELS[finding.severity]} {given}::{said.translate(_DATA)}"
