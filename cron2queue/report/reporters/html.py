"""html: one self-contained file to pass on; no script, no request, drawings as inline SVG, light and dark."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cron2queue.bundled import data_root
from cron2queue.report.reporter import RenderOptions, Reporter

if TYPE_CHECKING:
    from jinja2 import Template

    from cron2queue.analyser.audit import Audit


class HtmlReporter(Reporter):
    """The page allows itself nothing but its own style sheet, by hash; every text in it is escaped by the template."""

    name: ClassVar[str] = "html"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """A whole HTML document."""
        from cron2queue.report.page.model import page_of

        style = (_folder() / "audit.css").read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
        page = page_of(audit, options, style=style, policy=f"sha256-{digest}")
        yield from _template().generate(page=page)
        yield "\n"


def _folder() -> Path:
    return data_root("templates") / "report"


@cache
def _template() -> Template:
    """Autoescape is on for every template, whatever its name; no text of a crontab is ever template source."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(_folder())
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("audit.html.j2")
