"""Placeholders of template languages: text that is not yet the crontab, and must not be judged as if it were."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cron2queue.crontab.lines import Entry

_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<%.*?%>|%\{[^{}]*\}|@[A-Z][A-Z0-9_]+@|%%[A-Z][A-Z0-9_]+%%")
_VARIABLE = re.compile(r"\$\{[^{}]*\}|\$[A-Z_]+\b")
_SUFFIXES = (".erb", ".j2", ".jinja", ".jinja2", ".tmpl", ".template", ".tpl", ".epp", ".mustache", ".in", ".dist")


@lru_cache(maxsize=1024)
def template_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where placeholders stand that no shell would understand: `{{ x }}`, `{% x %}`, `<%= x %>`, `%{x}`, `@X@`."""
    if not any(mark in text for mark in ("{", "<%", "@", "%%")):
        return ()
    return tuple(match.span() for match in _PLACEHOLDER.finditer(text))


def is_template(text: str) -> bool:
    """The text holds such a placeholder."""
    return bool(template_spans(text))


def is_template_head(text: str) -> bool:
    """Schedule or user of a line hold a placeholder or a variable, neither of which cron expands."""
    return is_template(text) or bool(_VARIABLE.search(text))


def is_unrendered(entry: Entry) -> bool:
    """A line of a template that the daemon would misread as this entry."""
    return bool(entry.misread) and is_template_head(entry.raw.decode("utf-8", "surrogateescape"))


def is_template_path(path: str) -> bool:
    """The file's name says that it is rendered before use."""
    return path.lower().endswith(_SUFFIXES)
