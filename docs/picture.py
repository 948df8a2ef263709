"""Draws the README's terminal picture from a real run: the audit of the bundled shop, shortened to one screen."""

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "cron2queue audit examples/shop/crontab --logs examples/shop/logs"
FIXED = ("--timezone", "Europe/Berlin", "--at", "2026-11-29T06:00+01:00", "--width", "100", "--color", "always")
LANES = 5
ROWS = 12
WIDTH = 100

# As rich draws it, without the web fonts that it would load from elsewhere.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>cron2queue audit of a crontab of twenty-eight entries</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def report() -> list[str]:
    """The lines of the real report, with their colours."""
    ran = subprocess.run(
        [sys.executable, "-m", *COMMAND.split(), *FIXED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if ran.returncode != 1:
        raise RuntimeError(f"the audit ended with status {ran.returncode}: {ran.stderr}")
    return ran.stdout.splitlines()


def _section(lines: list[str], first: str, until: str) -> list[str]:
    plain = [_ANSI.sub("", line) for line in lines]
    begin = next(number for number, line in enumerate(plain) if line.startswith(first))
    end = next(number for number, line in enumerate(plain) if number > begin and line.startswith(until))
    return lines[begin:end]


def _finding(lines: list[str], code: str) -> list[str]:
    plain = [_ANSI.sub("", line) for line in lines]
    begin = next(number for number, line in enumerate(plain) if re.match(rf" [EWN] {code} ", line))
    end = next(number for number, line in enumerate(plain) if number > begin and not line.strip())
    return [*lines[begin:end], ""]


def excerpt(lines: list[str]) -> list[str]:
    """One screen of it: summary, three findings, the load and the head of the migration order."""
    load = _section(lines, "LOAD", "CHAINS")
    order = _section(lines, "MIGRATION ORDER", "FAIL")
    shown = [f"$ {COMMAND}", "", *lines[:5], ""]
    for code in ("C2Q301", "C2Q401", "C2Q504"):
        shown += _finding(lines, code)
    return [*shown, *load[: 3 + LANES], "", *order[:ROWS]]


def picture() -> str:
    """The SVG; the same run gives the same text."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in excerpt(report()):
        console.print(Text.from_ansi(line), soft_wrap=False, no_wrap=True, crop=True)
    return console.export_svg(title="cron2queue", code_format=SVG, unique_id="c2q")


if __name__ == "__main__":
    (ROOT / "docs" / "audit.svg").write_text(picture(), encoding="utf-8")
