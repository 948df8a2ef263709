"""The load of the busiest day ahead: processes alive, one lane an entry, and the chains that hang on the clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cron2queue.durations import duration
from cron2queue.report.columns import columns, fitted
from cron2queue.report.figures import counted, share, telling_lanes
from cron2queue.report.screen.ink import STYLES, Ink, hanging, heading, joined, styled
from cron2queue.report.screen.line import Line

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit, Lane, Load

_DAY = 1440
_BLOCKS = " ▁▂▃▄▅▆▇█"
_ROWS = 5  # of the ASCII picture
_LANES = 12
_COUNT = 7  # room for ` 1,440x` behind a lane


def section(audit: Audit, ink: Ink) -> list[Line]:
    """The timeline; left out when nothing starts, and without lanes where it is narrow."""
    load = audit.load
    if load is None or not load.alive or not load.peak:
        return []
    label, plot = _layout(ink)
    minutes = _DAY // plot
    profile = resampled(load.alive, plot)
    day = f"{load.day:%a} {load.day.day} {load.day:%b %Y}"
    lines = heading(ink, "LOAD", f"processes alive on the busiest day ahead, {day}, {_scale(minutes)} a column")
    lines += (_bars if ink.ascii else _blocks)(profile, load, label)
    lines.append(Line(" " * label + _axis(plot)))
    if ink.width >= 80:
        lines += _lanes(load, label, plot, ink)
    return [*lines, *(styled(row, "quiet") for row in hanging(_footer(load), ink.width, first="  ", rest="  "))]


def _layout(ink: Ink) -> tuple[int, int]:
    """Columns of the labels and of the picture; a picture's column is a whole number of minutes."""
    for width, label, plot in ((175, 24, 144), (130, 24, 96), (100, 20, 72), (74, 18, 48), (54, 5, 48)):
        if ink.width >= width:
            return label, plot
    return 5, 24


def _scale(minutes: int) -> str:
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h"


def resampled(alive: Sequence[int], plot: int) -> list[int]:
    """The profile in another number of columns; each shows the most of all that it touches, so that no peak is lost."""
    n = len(alive)
    return [max(alive[i * n // plot : max(i * n // plot + 1, -(-(i + 1) * n // plot))]) for i in range(plot)]


def _level(value: int, load: Load) -> str:
    """Above five sevenths of the peak a column is high, at the peak it is highest; a low load stays uncoloured."""
    if load.peak < 3:
        return ""
    return "red" if value == load.peak else "yellow" if value * 7 > load.peak * 5 else ""


def _blocks(profile: Sequence[int], load: Load, label: int) -> list[Line]:
    line = Line(fitted(f"peak {load.peak:,} at {load.peak_at:%H:%M}" if label > 12 else str(load.peak), label - 1) + " ")
    for value in profile:
        step = 0 if not value else max(1, round(value * 8 / load.peak))
        line.append(_BLOCKS[step], style=_level(value, load))
    return [line]


def _bars(profile: Sequence[int], load: Load, label: int) -> list[Line]:
    """Rows from the peak down; with few processes one row for each, with many each row stands for several."""
    low = min(profile)
    steps = min(_ROWS, load.peak - low + (low > 0) or 1)
    floor = low - 1 if low else 0
    levels = sorted({floor + -(-(load.peak - floor) * k // steps) for k in range(1, steps + 1)}, reverse=True)
    lines = []
    for level in levels:
        line = Line(f"{level:>{label - 2},} |")
        for value in profile:
            line.append("#" if value >= level else " ", style=_level(value, load) if value >= level else "")
        lines.append(line)
    return lines


def _axis(plot: int) -> str:
    """The hours below the picture, every third where there is room."""
    every = 3 if plot >= 48 else 6
    marks = "".join(fitted(f"{hour:02d}", plot * every // 24) for hour in range(0, 24, every))
    return marks[:-2] + "24"


def _lanes(load: Load, label: int, plot: int, ink: Ink) -> list[Line]:
    chosen, hidden = telling_lanes(load, len(load.lanes) if ink.verbose else _LANES)
    lines = [_lane(lane, label, plot, ink) for lane in chosen]
    if hidden:
        more = f"and {counted(hidden, 'more entry')} ({len(chosen) + hidden} in all); --verbose shows each"
        lines.append(styled(f"  {more}", "quiet"))
    return lines


def _lane(lane: Lane, label: int, plot: int, ink: Ink) -> Line:
    number = f"{lane.line:>3}" if ink.places.one_file else ""
    name = fitted(f"{number} {ink.text(lane.name)}", label - 1, mark=ink.mark)
    drawn = "".join(_drawn(lane, plot, ink))
    times = f"{len(lane.starts):,}x"
    line = Line(f"{name} {drawn}{times:>{_COUNT}}")
    line.stylize(STYLES["quiet"], len(name) + 1 + plot)
    return line


def _drawn(lane: Lane, plot: int, ink: Ink) -> list[str]:
    start_mark, long_mark, run_mark = ink.pick("╷", "|"), ink.pick("┝", "["), ink.pick("━", "=")
    cells = [" "] * plot
    minutes = _DAY / plot
    for start in lane.starts:
        column = min(plot - 1, int((start.hour * 60 + start.minute) / minutes))
        ends = min(plot - 1, int((start.hour * 60 + start.minute + (lane.seconds or 0) / 60) / minutes))
        for position in range(column + 1, ends + 1):
            if cells[position] == " ":
                cells[position] = run_mark
        cells[column] = long_mark if ends > column else start_mark
    return cells


def _footer(load: Load) -> str:
    planned = f"as planned: peak {load.planned_peak:,} alive"
    if not load.unknown:
        return planned
    return f"{planned}; {counted(load.unknown, 'entry')} of unknown duration drawn as a start only"


def chains(audit: Audit, ink: Ink) -> list[Line]:
    """Pairs of which the second trusts the clock that the first is done."""
    if not audit.chains:
        return []
    lines = heading(ink, "CHAINS", "the second trusts the clock that the first is done")
    by_id = {verdict.entry_id: verdict for verdict in audit.verdicts}
    for chain in audit.chains:
        first, then = by_id.get(chain.first), by_id.get(chain.then)
        if first is None or then is None:
            continue
        names = [f"{ink.places.of(each.path, each.entry.number, ink.text)} {ink.text(each.name)}" for each in (first, then)]
        arrow = ink.pick(" → ", " -> ")
        broken = (
            "never measured" if chain.broken_share is None else f"first still running on {share(chain.broken_share)} of days"
        )
        rows = hanging(
            f"{arrow.join(names)}   {duration(chain.gap_seconds)} apart, {broken}",
            ink.width,
            first="  ",
            rest="    ",
        )
        lines += [joined(row) for row in rows]
    return lines if len(lines) > 1 and columns(lines[-1].plain) else []
