"""Where a screen is drawn: how wide, with or without colour, with which glyphs; and text that wraps under itself."""

import json
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from cron2queue.cli.operation import completed
from cron2queue.cli.screens.grid import fitted
from cron2queue.cli.screens.words import shown
from cron2queue.cli.terminal import PLAIN_WIDTH, colored, columns, takes_ascii_only
from cron2queue.cli.writing import write_file, write_stdout
from cron2queue.redaction import redact

LEAST_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Canvas:
    """The room that a screen has. `options` stand behind each command that it names."""

    width: int = PLAIN_WIDTH
    color: bool = False
    ascii: bool = False
    options: str = ""

    def hint(self, text: str) -> str:
        """Words that name a command, so that it can be typed as it stands."""
        return shown(completed(text, self.options))

    def hinted(self, text: str, style: str, *, indent: int = 2) -> Iterable[Text]:
        """The same as lines of its own."""
        for line in wrapped(self.hint(text), self.width, first=" " * indent, rest=" " * indent):
            line.stylize(style)
            yield line

    def bar(self, share: float, length: int = 10) -> str:
        """A gauge: how much of something is used up; full from 1 upward."""
        full, empty = ("#", ".") if self.ascii else ("█", "░")
        filled = min(length, max(int(share * length), 1 if share > 0 else 0))
        return full * filled + empty * (length - filled)


def canvas(*, width: int | None, color: str, ascii_only: bool, to_file: bool = False, options: str = "") -> Canvas:
    """What the options and standard output allow; a file gets no colour, and as many columns as nobody's terminal."""
    stream = None if to_file else sys.stdout
    return Canvas(
        width=max(width or columns(stream), LEAST_WIDTH),
        color=colored(color, stream),
        ascii=ascii_only or takes_ascii_only(stream),
        options=options,
    )


def styled(canvas: Canvas, lines: Iterable[Text]) -> str:
    """The lines as text, each at most as wide as the canvas, with ANSI colours where wanted."""
    console = Console(
        width=canvas.width,
        force_terminal=canvas.color,
        no_color=not canvas.color,
        color_system="standard" if canvas.color else None,
        highlight=False,
        emoji=False,
        markup=False,
    )
    with console.capture() as captured:
        for line in lines:
            console.print(_cropped(line, canvas.width), soft_wrap=True)
    text = captured.get()
    return text.encode("ascii", "backslashreplace").decode("ascii") if canvas.ascii else text


def _cropped(line: Text, width: int) -> Text:
    short = fitted(line.plain, width)
    if short == line.plain:
        return line
    kept = line[: max(0, len(short) - 1)]
    kept.append("~")
    return kept


def heading(title: str, note: str = "", canvas: Canvas | None = None) -> Text:
    """A section's heading: what, then in a lighter voice what to know about it, where there is room for it."""
    line = Text()
    line.append(title, "bold")
    fits = canvas is None or len(title) + 3 + len(note) <= canvas.width
    return line.append(f"   {note}", "dim") if note and fits else line


def wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> list[Text]:
    """Running text in lines of at most `width` columns; words are broken only where they are longer, and nothing is lost."""
    wrap = textwrap.TextWrapper(width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [Text(line) for line in wrap.wrap(text) or [first.rstrip()]]


def put(text: str, output: Path | None = None) -> None:
    """Write a report: to the file at once, or to stdout; a reader who has had enough ends the command quietly and well."""
    data = text if text.endswith("\n") else text + "\n"
    if output is not None:
        write_file(output, data)
    elif not write_stdout(data):
        raise SystemExit(0)


def as_json(record: Any) -> str:
    """The record as JSON, ASCII only: foreign text cannot steer a terminal, secrets are masked in every string."""
    return json.dumps(_redacted(record), indent=2, ensure_ascii=True)


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _redacted(each) for key, each in value.items()}
    return [_redacted(each) for each in value] if isinstance(value, list | tuple) else value
