"""Queues as rows: oldest ready age against its limit, then what lies in which state."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.words import duration, shown
from cron2queue.runtime.sight.views import QueueView

_COLUMNS = (
    Column("queue", shrinks=True),
    Column("", rank=6),
    Column("oldest", right=True),
    Column("limit", right=True, rank=4),
    Column("ready", right=True),
    Column("scheduled", right=True, rank=3),
    Column("blocked", right=True, rank=5),
    Column("running", right=True, rank=1),
    Column("dead", right=True),
    Column("", rank=2, shrinks=True, least=28),
)


def queue_lines(queues: Sequence[QueueView], canvas: Canvas) -> Iterator[Text]:
    """One row a queue, worst first."""
    if not queues:
        yield Text("  none yet: `cron2queue enqueue` makes the first job, and its queue", "dim")
        return
    grid = Grid(_COLUMNS)
    for queue in sorted(queues, key=lambda queue: queue.urgency):
        grid.add(_row(queue, canvas))
    yield from grid.lines(canvas.width)


def _row(queue: QueueView, canvas: Canvas) -> list[Cell]:
    age, limit = queue.oldest_ready_seconds, queue.age_limit
    used = (age or 0.0) / limit if limit else 0.0
    alarm = "bold red" if queue.over_age else "yellow" if used > 0.5 else ""
    running = queue.count("running") + queue.count("cancel_requested")
    return [
        Cell(shown(queue.queue), "bold"),
        Cell(canvas.bar(used) if limit else "", alarm or "green"),
        Cell("-" if age is None else duration(age), alarm),
        Cell(duration(limit)),
        Cell(str(queue.count("ready")), "bold red" if queue.over_depth else ""),
        Cell(str(queue.count("scheduled"))),
        Cell(str(queue.count("blocked"))),
        Cell(str(running) + (f"/{queue.concurrency}" if queue.concurrency else "")),
        Cell(str(queue.count("dead")), "red" if queue.count("dead").n else ""),
        Cell(_remark(queue), "yellow"),
    ]


def _remark(queue: QueueView) -> str:
    state = shown(queue.pause) if queue.paused else "full" if queue.over_depth else "late" if queue.over_age else ""
    refused = f"{queue.refused:,} refused in the last hour" if queue.refused else ""
    return ", ".join(each for each in (state, refused) if each)
