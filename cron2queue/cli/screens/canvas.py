"""Where a screen is drawn: how wide, with or without colour, with which glyphs; and text that wraps under itself."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from cron2queue.cli.screens.grid import fitted
from cron2queue.errors import UsageError
from cron2queue.redaction import redact

PLAIN_WIDTH = 100  # when nobody's terminal is asked
LEAST_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Canvas:
    """The room that a screen has."""

    width: int = PLAIN_WIDTH
    color: bool = False
    ascii: bool = False

    def bar(self, share: float, length: int = 10) -> str:
        """A gauge: how much of something is used up; full from 1 upward."""
        full, empty = ("#", ".") if self.ascii else ("█", "░")
        filled = min(length, max(int(share * length), 1 if share > 0 else 0))
        return full * filled + empty * (length - filled)


def canvas(*, width: int | None, color: str, ascii_only: bool, stream: TextIO | None = None) -> Canvas:
    """What the options and the stream allow; a stream that is no terminal gets COLUMNS or 100 columns and no colour."""
    stream = stream or sys.stdout
    terminal = stream.isatty()
    if color not in ("auto", "always", "never"):
        raise UsageError(f"--color {color!r} is none of auto, always, never", remedy="use --color auto, always or never")
    asked = os.environ.get("COLUMNS", "")
    plain = int(asked) if asked.isdigit() and int(asked) else PLAIN_WIDTH
    room = width or (shutil.get_terminal_size((plain, 24)).columns if terminal else plain)
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    return Canvas(max(room, LEAST_WIDTH), _colored(color, terminal), ascii_only or encoding not in ("utf8", "utf16"))


def _colored(color: str, terminal: bool) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (terminal and os.environ.get("TERM") != "dumb")


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
    """Running text in lines of at most `width` columns; long words are broken, nothing is lost."""
    return [Text(line) for line in textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest) or [first.rstrip()]]


def put(text: str, output: Path | None = None) -> None:
    """Write a report: to the file at once, or to stdout; lone surrogates cannot stop it."""
    data = text if text.endswith("\n") else text + "\n"
    if output is None:
        _say(data.encode("utf-8", "backslashreplace").decode("utf-8"))
        return
    temporary = output.with_name(f".{output.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(data, encoding="utf-8", errors="backslashreplace")
        temporary.replace(output)
    except OSError as trouble:
        temporary.unlink(missing_ok=True)
        raise UsageError(f"cannot write {output}: {trouble.strerror}", remedy="name a writable file with -o") from None


def _say(text: str) -> None:
    """To stdout; a reader who has had enough (head, a closed pager) ends the command quietly and well."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None


def as_json(record: Any) -> str:
    """The record as JSON, ASCII only: foreign text cannot steer a terminal, secrets are masked in every string."""
    return json.dumps(_redacted(record), indent=2, ensure_ascii=True)


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _redacted(each) for key, each in value.items()}
    return [_redacted(each) for each in value] if isinstance(value, list | tuple) else value
