"""Placeholders of template languages: text that is not yet the crontab, and must not be judged as if it were."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from cron2queue.analyser.daemons import daemon
from cron2queue.expressions import regex

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile, Entry

# As long as what people write into one pair of marks: an unclosed mark must not be looked for to the end of a hostile text.
_INSIDE = r".{0,200}?"
_MARKS = (
    rf"\{{\{{{_INSIDE}\}}\}}|\{{%{_INSIDE}%\}}|\{{\#{_INSIDE}\#\}}|<%{_INSIDE}%>"
    r"|%\{[^{}]*\}|@[A-Z][A-Z0-9_]+@|%%[A-Z][A-Z0-9_]+%%"
)
_PLACEHOLDER = regex(_MARKS)
_VARIABLE = regex(r"\$\{[^{}]*\}|\$[A-Z_]+\b")
_FIELD, _MINUTE = regex(r"[\w*,/?#~-]*"), regex(r"@[a-z]*|[\d*,/?~-]*")
_WORD = regex(rf"(?:{_MARKS}|\S)+")
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
    """The text of schedule or user holds a placeholder or a variable, neither of which cron expands."""
    return is_template(text) or bool(_VARIABLE.search(text))


def is_template_line(file: CrontabFile, raw: bytes) -> bool:
    """Schedule or user of the line are yet to be filled in; a placeholder in the command alone may be the shell's."""
    text = raw.decode("utf-8", "surrogateescape").lstrip()
    named = file.kind == "system" and daemon(file.dialect).user_column
    words = [found.group() for found in islice(_WORD.finditer(text), (1 if text.startswith("@") else 5) + named)]
    if any(map(is_template, words)):
        return True
    fields = [_VARIABLE.sub("", word) for word in words[:5]]
    return any(map(_VARIABLE.search, words)) and all(map(_FIELD.fullmatch, fields)) and bool(_MINUTE.fullmatch(fields[0]))


def is_unrendered(file: CrontabFile, entry: Entry) -> bool:
    """A line of a template that the daemon would misread as this entry."""
    return bool(entry.misread) and is_template_line(file, entry.raw)


def is_template_path(path: str) -> bool:
    """The file's name says that it is rendered before use."""
    return path.lower().endswith(_SUFFIXES)


def is_template_file(file: CrontabFile) -> bool:
    """It is rendered before any daemon reads it: what this one would say of the file does not count."""
    return is_template_path(file.path) or any(is_template_line(file, line.raw) for line in file.malformed)
