"""Foreign text on its way into a report: secrets masked, then every dangerous character made visible, then cut."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from cron2queue.record import Record
from cron2queue.redaction import MASK, redact, secret_spans
from cron2queue.report.columns import columns
from cron2queue.text import ascii_text, safe_text

_SHORT = 400  # characters; longer texts seldom come twice
_ASCII_FOR = str.maketrans(
    {"‹": "<", "›": ">", "…": "...", "–": "-", "—": "-", "→": "->", "’": "'", "“": '"', "”": '"', "×": "x"}
)


def shown(text: str, *, ascii_only: bool = False) -> str:
    """One safe line. A tab, which every crontab may hold, becomes a blank."""
    return _kept(text, ascii_only) if len(text) <= _SHORT else _made_safe(redact(text), ascii_only)


@lru_cache(maxsize=16384)
def _kept(text: str, ascii_only: bool) -> str:
    """Reports say the same of many entries."""
    return _made_safe(redact(text), ascii_only)


def _made_safe(text: str, ascii_only: bool) -> str:
    safe = safe_text(text.replace("\t", " "))
    return ascii_text(safe.translate(_ASCII_FOR)) if ascii_only else safe


class Excerpt(Record):
    """A safe piece of a source line and where its marked part stands: columns from 0, on the screen, end exclusive."""

    text: str
    start: int
    end: int


def excerpt(line: str, width: int, column: int | None, end_column: int | None, *, ascii_only: bool = False) -> Excerpt:
    """The part of a source line around its marked columns (from 1, in characters) that fits `width` screen columns.

    Escapes and masks are wider or narrower than what they stand for; the mark stays under the same characters. Without
    a column nothing is marked and the line's beginning is shown.
    """
    cells = _cells(line, ascii_only)
    if column is None or not cells:
        return Excerpt(text=_fitting(cells, 0, width, ascii_only)[1], start=0, end=0)
    first, last = _bounds(len(cells), column, end_column)
    begin = _begin(cells, first, width)
    before, text = _fitting(cells, begin, width, ascii_only)
    start = before + sum(columns(cell) for cell in cells[begin:first])
    end = start + sum(columns(cell) for cell in cells[first:last])
    start = min(start, width - 1)
    return Excerpt(text=text, start=start, end=max(start + 1, min(end, columns(text))))


def marked(line: str, column: int | None, end_column: int | None) -> tuple[str, str, str]:
    """A safe source line in three parts: before the marked columns, the marked ones (empty without a column), the rest."""
    cells = _cells(line, False)
    first, last = _bounds(len(cells), column, end_column)
    return "".join(cells[:first]), "".join(cells[first:last]), "".join(cells[last:])


def _bounds(length: int, column: int | None, end_column: int | None) -> tuple[int, int]:
    """Columns from 1 as a slice that lies within the line and, where a column is given and exists, is not empty."""
    if column is None:
        return 0, 0
    first = min(max(column - 1, 0), length)
    last = min(max((end_column or 0) - 1, first + 1), length)
    return first, max(first, last)


def _cells(line: str, ascii_only: bool) -> list[str]:
    """For each character what is shown for it; a secret is one mask at its first character."""
    cells = [_made_safe(c, ascii_only) for c in line]
    mask = _made_safe(MASK, ascii_only)
    for start, end in secret_spans(line):
        cells[start:end] = [mask, *[""] * (end - start - 1)]
    return cells


def _begin(cells: Sequence[str], first: int, width: int) -> int:
    """Where to begin so that the marked cell stands within the width and little room is wasted."""
    if sum(columns(cell) for cell in cells[: first + 1]) + 3 <= width:
        return 0
    about_two_thirds = _back(cells, first, width * 2 // 3 - 3)
    so_that_the_end_fits = _back(cells, len(cells), width - 3)
    return min(about_two_thirds, max(so_that_the_end_fits, 1))


def _back(cells: Sequence[str], end: int, room: int) -> int:
    """The earliest cell from which everything up to `end` fits the room."""
    begin, used = end, 0
    while begin > 0 and used + columns(cells[begin - 1]) <= room:
        begin -= 1
        used += columns(cells[begin])
    return begin


def _fitting(cells: Sequence[str], begin: int, width: int, ascii_only: bool) -> tuple[int, str]:
    """Columns of the mark in front, and the cells from `begin` on as far as they fit, with a mark for each end cut off."""
    mark = "..." if ascii_only else "…"
    text = mark if begin else ""
    before = columns(text)
    if before + sum(columns(cell) for cell in cells[begin:]) <= width:
        return before, text + "".join(cells[begin:])
    used = before
    for cell in cells[begin:]:
        used += columns(cell)
        if used > width - len(mark):
            break
        text += cell
    return before, text + mark
