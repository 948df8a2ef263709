"""The dead, grouped by kind and error, so that a million of them are a few lines."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas, heading
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.words import moment, shown
from cron2queue.runtime.sight.views import DeadGroup, DeadView

GROUPS_SHOWN = 40


def dead_lines(groups: Sequence[DeadGroup], now: datetime, canvas: Canvas) -> Iterator[Text]:
    """One row a group, the largest first."""
    grid = Grid(
        [
            *(Column("dead", right=True), Column("kind", shrinks=True), Column("error", shrinks=True, least=44)),
            *(Column("first", rank=3), Column("last", rank=2), Column("for example", rank=1)),
        ]
    )
    for group in groups:
        error = shown(group.error) if group.error else "no message"
        times = (moment(group.first, now), moment(group.last, now))
        grid.add([Cell(f"{group.count:,}", "bold red"), shown(group.kind), error, *times, Cell(shown(group.example), "dim")])
    yield from grid.lines(canvas.width)


def dead_screen(dead: DeadView, now: datetime, canvas: Canvas) -> Iterator[Text]:
    """All groups, how many were looked at, and what to do next."""
    if not dead.groups:
        yield Text("nothing is dead", "green")
        return
    yield heading(f"{dead.total} DEAD", _scope(dead), canvas)
    yield from dead_lines(dead.groups[:GROUPS_SHOWN], now, canvas)
    if len(dead.groups) > GROUPS_SHOWN:
        rest = dead.groups[GROUPS_SHOWN:]
        yield Text(f"  and {sum(group.count for group in rest):,} more in {len(rest):,} smaller groups; --kind narrows", "dim")
    yield Text()
    yield Text("cron2queue jobs show ID                               each attempt, its output", "dim")
    yield Text("cron2queue dead requeue --kind KIND --spread SECONDS  another chance, by and by", "dim")


def _scope(dead: DeadView) -> str:
    if dead.partial:
        return f"grouped: the newest {dead.looked_at:,} of them"
    return "by kind and error"
