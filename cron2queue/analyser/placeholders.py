"""What nobody has filled in: marks of templates and of manuals that the shell takes for what they are not."""

import re

from cron2queue.expressions import regex

_INSIDE = r"[^{}<>%]{0,80}?"
# Go's templates, which `docker --format` and others read themselves, begin with a dot or a word before one.
_MARKS = regex(
    r"\$?\{\{-?\s*(?!(?:end|else|break|continue)\b)[A-Za-z_][\w.\[\]'\"-]*\s*(?:\|[^{}]{0,80})?-?\}\}"
    r"|\{\{-?\s*\.(?:Values|Release|Chart)\.[\w.]+[^{}]{0,80}\}\}"
    rf"|\{{%{_INSIDE}%\}}|<%{_INSIDE}%>|@[A-Z][A-Z0-9_]+@(?!\w)|%%[A-Z][A-Z0-9_]+%%"
    r"|(?<![\w./-])/(?:full/|absolute/|your/)?path/to/[\w./-]*"
)
_QUOTED = regex(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_ANGLED = regex(r"(?<![<\d&])<([A-Za-z](?:[\w .-]{0,38}[\w])?)>(?![>\w&])")
_NAMES = """
    user username userid password passwd pass secret token key apikey host hostname server domain ip port email
    database dbname db path dir directory folder url id uuid project app repo branch bucket region container
    your my insert here placeholder change
"""
_WORDS = frozenset(_NAMES.split())


def placeholder(text: str) -> tuple[int, int] | None:
    """Where the first one stands; in quotes only those of templates count, since `<user>` may be searched for there."""
    found = _MARKS.search(text) if any(mark in text for mark in ("{{", "{%", "<%", "@", "%%", "path/to/")) else None
    angled = _angled(text) if "<" in text else None
    spans = [each.span() for each in (found, angled) if each is not None]
    return min(spans, default=None)


def _angled(text: str) -> re.Match[str] | None:
    bare = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), text)
    named = (each for each in _ANGLED.finditer(bare) if _WORDS.intersection(re.split(r"[\W_]+", each[1].lower())))
    return next(named, None)
