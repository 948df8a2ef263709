"""What the place that a report goes to can take: columns, colours and characters. One answer for every command.

A file (stream None) takes colours only with --color always, any character, and as many columns as nobody's terminal.
"""

import os
import shutil
from typing import TextIO

from cron2queue.cli.operation import one_of

PLAIN_WIDTH = 100  # when nobody's terminal is asked
COLORS = ("auto", "always", "never")


def columns(stream: TextIO | None) -> int:
    """COLUMNS where it is set, else the terminal's, else 100."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked):
        return int(asked)
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if stream is not None and stream.isatty() else PLAIN_WIDTH


def colored(wish: str, stream: TextIO | None) -> bool:
    """--color beats NO_COLOR and FORCE_COLOR (which count when they are not empty) beat what the terminal is."""
    if one_of(wish, COLORS, "--color") != "auto":
        return wish == "always"
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def takes_ascii_only(stream: TextIO | None) -> bool:
    """Whether its encoding lacks the characters that frames and gauges are drawn with."""
    return stream is not None and not (stream.encoding or "ascii").lower().startswith("utf")
