"""Shadow mode as a screen and as a record: an entry a row, and beneath it each start that has no twin."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas, heading, wrapped
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.records import SCHEMA, moment, seconds
from cron2queue.cli.screens.words import duration, plural, shown
from cron2queue.cutover.shadow import Comparison

MOST = 5
_COLUMNS = (
    Column("entry", shrinks=True),
    Column("cron", right=True),
    Column("queue", right=True),
    Column("both", right=True, rank=3),
    Column("only cron", right=True),
    Column("only queue", right=True),
    Column("waiting", right=True, rank=1),
    Column("later by", right=True, rank=2),
)


def shadow_screen(entries: Sequence[Comparison], canvas: Canvas) -> Iterator[Text]:
    """The table, then what to know of each entry that is not alike."""
    yield heading("SHADOW", "what cron ran, and what the queue would have run", canvas)
    grid = Grid(_COLUMNS)
    for each in entries:
        grid.add(_row(each))
    yield from grid.lines(canvas.width)
    for each in entries:
        for line in _remarks(each):
            yield from wrapped(f"{shown(each.name)}: {line}", canvas.width, first="  ", rest="    ")
    differing = [each for each in entries if not each.alike]
    if differing:
        yield Text(f"{len(differing)} of {len(entries)} not alike", "yellow")
    else:
        yield Text("alike: each start by cron has its job, and each job its start", "green")


def _row(each: Comparison) -> list[Cell]:
    def counted(number: int) -> Cell:
        return Cell(f"{number:,}", "yellow" if number else "dim")

    late = each.late_median
    return [
        Cell(shown(each.name)),
        Cell(f"{each.cron:,}"),
        Cell(f"{each.queue:,}"),
        Cell(f"{each.both:,}", "dim"),
        counted(len(each.only_cron)),
        counted(len(each.only_queue)),
        counted(each.waiting),
        Cell("-" if late is None else f"{late:+.1f} s", "dim"),
    ]


def _stamp(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _times(found: Sequence[datetime]) -> str:
    more = f" and {len(found) - MOST:,} more" if len(found) > MOST else ""
    return ", ".join(_stamp(at) for at in found[:MOST]) + more


def _remarks(each: Comparison) -> Iterator[str]:
    yield f"compared from {_stamp(each.since)} to {_stamp(each.until)} UTC, as far as both sides tell"
    if not each.cron and not each.queue:
        yield "neither side has anything in this time"
    if each.only_cron:
        yield f"cron ran it and no job was made: {_times(each.only_cron)}"
        if each.left_out:
            yield f"{each.left_out:,} of these came while the job before was not done, and its overlap rule left them out"
        if each.left_out < len(each.only_cron):
            yield "for the others the producer failed or did not come: see cron's mail and log"
    if each.only_queue:
        yield f"a job was made and cron's run was not seen: {_times(each.only_queue)}"
    if each.waiting:
        yield f"{plural(each.waiting, 'job')} not taken yet: is a worker running for its queue?"
    if each.would_skip:
        yield f"with runs as long as cron's, its overlap rule would have left out {each.would_skip:,} of {each.cron:,}"
    if each.late_most is not None and abs(each.late_most) > 60:
        yield f"at most {duration(abs(each.late_most))} {'later' if each.late_most > 0 else 'earlier'} than cron"
    if each.shared:
        yield "other entries look the same in the log: their starts are counted here, too"


def shadow_record(at: datetime, entries: Sequence[Comparison]) -> dict[str, Any]:
    """`diff --shadow --format json`."""
    return {"schema": SCHEMA, "at": moment(at), "entries": [_record(each) for each in entries]}


def _record(each: Comparison) -> dict[str, Any]:
    return {
        "entry": each.name,
        "since": moment(each.since),
        "until": moment(each.until),
        "cron": each.cron,
        "queue": each.queue,
        "both": each.both,
        "only_cron": [moment(at) for at in each.only_cron],
        "only_queue": [moment(at) for at in each.only_queue],
        "left_out": each.left_out,
        "waiting": each.waiting,
        "later_seconds": {"median": seconds(each.late_median), "most": seconds(each.late_most)},
        "would_skip": each.would_skip,
        "shared": each.shared,
        "alike": each.alike,
    }
