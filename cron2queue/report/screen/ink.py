"""What every part of the terminal report draws with: a width, a set of glyphs, and lines.

Lines hold styles apart from their text, never markup: crontabs are full of square brackets.
"""

from __future__ import annotations

from collections.abc import Sequence

from cron2queue.record import Record
from cron2queue.report.columns import columns, folded
from cron2queue.report.figures import Places
from cron2queue.report.screen.line import Line
from cron2queue.report.shown import shown

STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "heading": "bold",
    "quiet": "dim",
    "good": "bold green",
}
_FARTHEST = 110
LETTERS = {"error": "E", "warning": "W", "note": "N"}


class Ink(Record):
    """Width in columns, whether only ASCII may be used, and how places are called."""

    width: int
    ascii: bool
    places: Places
    verbose: bool = False

    def text(self, foreign: str) -> str:
        """Foreign text, redacted and safe."""
        return shown(foreign, ascii_only=self.ascii)

    @property
    def edge(self) -> int:
        """Where what stands to the right ends: on a wide screen not so far out that the eye loses the line."""
        return min(self.width, _FARTHEST)

    @property
    def mark(self) -> str:
        """What stands where something was cut."""
        return "..." if self.ascii else "…"

    def pick(self, fine: str, plain: str) -> str:
        """The fine glyph, or the plain one in ASCII."""
        return plain if self.ascii else fine


def styled(text: str, style: str) -> Line:
    """A line in one of STYLES."""
    return Line(text, style=STYLES.get(style, style))


def joined(*parts: str | tuple[str, str]) -> Line:
    """A line of parts, each plain or with a style."""
    line = Line()
    for part in parts:
        if isinstance(part, str):
            line.append(part)
        else:
            line.append(part[0], style=STYLES.get(part[1], part[1]))
    return line


def heading(ink: Ink, title: str, explanation: str = "") -> list[Line]:
    """A section's heading with one line of explanation, folded under itself where it is narrow."""
    room = ink.width - columns(title) - 3
    rows = folded(explanation, room) if room >= 30 else folded(explanation, ink.width - 2)
    if not explanation or room < 30:
        return [styled(title, "heading"), *(styled("  " + row, "quiet") for row in rows if row)]
    indent = " " * columns(title)
    return [joined((title if not n else indent, "heading"), "   ", (row, "quiet")) for n, row in enumerate(rows)]


def spread(ink: Ink, left: str, right: str) -> list[str]:
    """Left and right on one line, or on two when they do not fit."""
    gap = max(ink.edge - columns(left) - columns(right), 3)
    if columns(left) + gap + columns(right) <= ink.width:
        return [left + " " * gap + right]
    return [*hanging(left, ink.width), *hanging("  " + right, ink.width)]


def flowing(items: Sequence[str], width: int, *, indent: str = "  ", gap: str = "   ") -> list[str]:
    """Items side by side, broken between them and never inside, unless one alone is too wide."""
    rows: list[str] = []
    for item in items:
        joined_up = f"{rows[-1]}{gap}{item}" if rows else ""
        if rows and columns(joined_up) <= width:
            rows[-1] = joined_up
        else:
            rows.append((indent if rows else "") + item)
    return [line for row in rows for line in hanging(row, width)]


def hanging(text: str, width: int, *, first: str = "", rest: str | None = None) -> list[str]:
    """Folded text behind a first prefix; the following lines hang under it."""
    lead = len(first) if rest is None else len(rest)
    stem = text.lstrip(" ")
    inner = " " * (len(text) - len(stem))
    rows = folded(stem, width - max(lead, columns(first)) - len(inner))
    indent = " " * columns(first) if rest is None else rest
    return [(first if not n else indent) + inner + row for n, row in enumerate(rows)]
