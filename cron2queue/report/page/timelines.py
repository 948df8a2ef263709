"""The drawings of the HTML report as numbers and SVG paths: the busiest day with its load, and the week by the hour.

Paths hold nothing but numbers, so no text can get into them. Units are SVG user units; x runs with wall time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cron2queue.crontab.schedule import Calendar
from cron2queue.durations import duration
from cron2queue.record import Record
from cron2queue.report.figures import telling_lanes
from cron2queue.report.shown import shown

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit, Lane, Load
    from cron2queue.analyser.verdicts import Verdict

PLOT = 960  # width of a picture without its labels; a multiple of 24 and of 168 hours is not needed
ROW = 22
BAR = 12
LOAD_HEIGHT = 96
WEEK_HOURS = 168
MOST_LANES = 40
_SHADES = 5
_EPOCH = datetime(1970, 1, 1)


class Row(Record):
    """One entry in a picture: its label, its place, its path (or one for each shade), and what it says in words."""

    label: str
    y: float
    paths: tuple[str, ...]
    count: str
    words: str


class Tick(Record):
    """A mark on the time axis."""

    x: float
    label: str


class Day(Record):
    """The busiest day ahead: the area of processes alive over the lanes of the entries."""

    title: str
    words: str
    area: str
    peak: int
    peak_x: float
    planned: int
    planned_y: float
    steps: tuple[tuple[float, int], ...]
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    hidden: int
    height: float
    hourly: tuple[tuple[str, int], ...]
    unknown: int


class Week(Record):
    """Seven days from the report's own, a cell an hour, darker with more starts; by wall time, clock changes not drawn."""

    title: str
    words: str
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    hidden: int
    height: float


def day_of(load: Load | None) -> Day | None:
    """The picture of the load, or None when nothing starts."""
    if load is None or not load.peak or not load.alive:
        return None
    chosen, hidden = telling_lanes(load, MOST_LANES)
    hours = [max(load.alive[h * len(load.alive) // 24 : max((h + 1) * len(load.alive) // 24, 1)]) for h in range(24)]
    return Day(
        title=f"{load.day:%A} {load.day.day} {load.day:%B %Y}",
        words=f"At most {load.peak} processes alive, at {load.peak_at:%H:%M}; as planned at most {load.planned_peak}.",
        area=_area(load),
        peak=load.peak,
        peak_x=_x_of(load.peak_at),
        planned=load.planned_peak,
        planned_y=_height(load.planned_peak, load.peak),
        steps=tuple((_height(level, load.peak), level) for level in _levels(load.peak)),
        ticks=tuple(Tick(x=hour * PLOT / 24, label=f"{hour:02d}") for hour in range(0, 25, 3)),
        rows=tuple(_lane(lane, position) for position, lane in enumerate(chosen)),
        hidden=hidden,
        height=len(chosen) * ROW,
        hourly=tuple((f"{hour:02d}", alive) for hour, alive in enumerate(hours)),
        unknown=load.unknown,
    )


def _x_of(at: datetime) -> float:
    return round((at.hour * 60 + at.minute) * PLOT / 1440, 1)


def _height(alive: int, peak: int) -> float:
    return round(LOAD_HEIGHT - alive * LOAD_HEIGHT / peak, 1)


def _levels(peak: int) -> list[int]:
    step = max(1, -(-peak // 4))
    return list(range(0, peak + 1, step))


def _area(load: Load) -> str:
    """A step line over the columns, closed along the axis."""
    width = PLOT / len(load.alive)
    steps = "".join(f"V{_height(alive, load.peak):g}H{round((i + 1) * width, 1):g}" for i, alive in enumerate(load.alive))
    return f"M0 {LOAD_HEIGHT}{steps}V{LOAD_HEIGHT}Z"


def _lane(lane: Lane, position: int) -> Row:
    minutes = max((lane.seconds or 0) / 60, 1)
    starts = [at.hour * 60 + at.minute for at in lane.starts]
    top = position * ROW + (ROW - BAR) / 2
    known = f", about {duration(lane.seconds, resolution=1)} each" if lane.seconds is not None else ", duration unknown"
    times = f"{len(starts):,}×"
    return Row(
        label=shown(f"{lane.line} {lane.name}"),
        y=position * ROW,
        paths=(_bars(((start, start + minutes) for start in starts), 1440, top),),
        count=times,
        words=shown(f"line {lane.line} {lane.name}: {len(starts):,} starts{known}"),
    )


def _bars(spans: Iterable[tuple[float, float]], whole: float, top: float) -> str:
    """Bars of the spans; those closer than a pixel are drawn as one, so that a busy lane stays a short path."""
    merged: list[list[float]] = []
    for start, end in sorted(spans):
        left, right = start * PLOT / whole, min(end * PLOT / whole, PLOT)
        right = max(right, left + 1.2)
        if merged and left <= merged[-1][1] + 0.2:
            merged[-1][1] = max(merged[-1][1], right)
        else:
            merged.append([left, right])
    return "".join(f"M{left:.1f} {top:g}H{right:.1f}v{BAR}H{left:.1f}Z" for left, right in merged)


def week_of(audit: Audit) -> Week | None:
    """The picture of the week ahead, or None when no entry follows a calendar."""
    first = datetime(audit.at.year, audit.at.month, audit.at.day)
    files = {file.path for file in audit.files if file.loaded}
    lanes = [(verdict, hourly_starts(verdict, first)) for verdict in audit.verdicts if verdict.path in files]
    lanes = [(verdict, hours) for verdict, hours in lanes if any(hours)]
    if not lanes:
        return None
    lanes.sort(key=lambda lane: (lane[0].path, lane[0].entry.number))
    chosen = lanes[:MOST_LANES]
    total = [sum(hours[i] for _, hours in lanes) for i in range(WEEK_HOURS)]
    busiest = first + timedelta(hours=total.index(max(total)))
    every = _strip(total, 0, "all entries", f"all entries: {sum(total):,} starts in the week", calm=min(total))
    rows = [_strip(hours, n, *_named(verdict, sum(hours))) for n, (verdict, hours) in enumerate(chosen, 1)]
    return Week(
        title=f"{_dated(first)} to {_dated(first + timedelta(days=6))}",
        words=f"Most starts in one hour: {max(total):,}, from {busiest:%A %H:%M}.",
        ticks=tuple(Tick(x=round(d * PLOT / 7, 1), label=f"{first + timedelta(days=d):%a %d}") for d in range(7)),
        rows=(every, *rows),
        hidden=len(lanes) - len(chosen),
        height=(len(chosen) + 1) * ROW,
    )


def _dated(day: datetime) -> str:
    return f"{day:%a} {day.day} {day:%b}"


def _named(verdict: Verdict, starts: int) -> tuple[str, str]:
    label = shown(f"{verdict.entry.number} {verdict.name}")
    return label, f"line {label}: {starts:,} starts in the week"


def hourly_starts(verdict: Verdict, first: datetime) -> list[int]:
    """Starts in each of the 168 hours from `first` (naive), by the wall clock; zeros for what follows no calendar."""
    hours = [0] * WEEK_HOURS
    schedule = verdict.entry.schedule
    if isinstance(schedule, Calendar):
        begin = int((first - _EPOCH).total_seconds()) // 60
        for minute in schedule.minutes_between(first, first + timedelta(hours=WEEK_HOURS)):
            hours[(minute - begin) // 60] += 1
    return hours


def _strip(hours: Sequence[int], position: int, label: str, words: str, *, calm: int = 0) -> Row:
    """One path a shade; the darkest is for the lane's own busiest hour, the lightest for little more than `calm` starts."""
    most = max(max(hours) - calm, 1)
    top = position * ROW + (ROW - BAR) / 2
    paths = []
    for shade in range(1, _SHADES + 1):
        cells = [i for i, value in enumerate(hours) if value and _shade(value - calm, most) == shade]
        paths.append(_bars(((i, i + 1) for i in cells), WEEK_HOURS, top))
    return Row(label=label, y=position * ROW, paths=tuple(paths), count=f"{sum(hours):,}×", words=words)


def _shade(value: int, most: int) -> int:
    return max(1, -(-value * _SHADES // most))
