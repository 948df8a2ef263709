"""Queues as rows: oldest ready age against its limit, then what lies in which state."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas, heading, wrapped
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.jobs import action_lines
from cron2queue.cli.screens.words import duration, shown
from cron2queue.runtime.sight.views import ActionView, QueueView

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
        yield from canvas.hinted("none yet: `cron2queue enqueue` makes the first job, and its queue", "dim")
        return
    grid = Grid(_COLUMNS)
    for queue in sorted(queues, key=lambda queue: queue.urgency):
        grid.add(_row(queue, canvas))
    yield from grid.lines(canvas.width)


def queue_screen(queue: QueueView, actions: Sequence[ActionView], now: datetime, canvas: Canvas) -> Iterator[Text]:
    """One queue with its limits, and what operators did to it."""
    yield from queue_lines([queue], canvas)
    yield Text()
    for line in _limits(queue):
        yield from wrapped(line, canvas.width, first="  ", rest="    ")
    yield Text()
    yield heading("ACTIONS")
    if not actions:
        yield Text("  none: no operator has paused or limited it", "dim")
        return
    yield from action_lines(actions, now, canvas)


def _limits(queue: QueueView) -> Iterator[str]:
    running = "any number" if queue.concurrency is None else f"{queue.concurrency:,}"
    yield f"runs {running} at one time, over all workers"
    depth = "however many wait" if queue.depth_limit is None else f"while fewer than {queue.depth_limit:,} wait"
    age = "" if queue.age_limit is None else f", and none longer than {duration(queue.age_limit)}"
    yield f"accepts new jobs {depth}{age}"
    yield f"in the last hour {queue.refused:,} refused, {queue.duplicates:,} duplicates, {queue.lease_lost:,} leases lost"


def _row(queue: QueueView, canvas: Canvas) -> list[Cell]:
    age, limit = queue.oldest_ready_seconds, queue.age_limit
    used = (age or 0.0) / limit if limit else 0.0
    alarm = "bold red" if queue.over_age else "yellow" if used > 0.5 else ""
    return [
        Cell(shown(queue.queue), "bold"),
        Cell(canvas.bar(used) if limit else "", alarm or "green"),
        Cell("-" if age is None else duration(age), alarm),
        Cell(duration(limit)),
        Cell(str(queue.count("ready")), "bold red" if queue.over_depth else ""),
        Cell(str(queue.count("scheduled"))),
        Cell(str(queue.count("blocked"))),
        Cell(str(queue.held) + (f"/{queue.concurrency}" if queue.concurrency else "")),
        Cell(str(queue.count("dead")), "red" if queue.count("dead").n else ""),
        Cell(_remark(queue), "yellow"),
    ]


def _remark(queue: QueueView) -> str:
    state = shown(queue.pause) if queue.paused else "full" if queue.over_depth else "late" if queue.over_age else ""
    refused = f"{queue.refused:,} refused in the last hour" if queue.refused else ""
    return ", ".join(each for each in (state, refused) if each)
