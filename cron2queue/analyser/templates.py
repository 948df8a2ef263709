"""Placeholders of template languages: text that is not yet the crontab, and must not be judged as if it were."""

import re
from functools import lru_cache

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


def is_template_path(path: str) -> bool:
    """The file's name says that it is rendered before use."""
    return path.lower().endswith(_SUFFIXES)
