"""The one screen: what is wrong, then the queues by age, kinds, workers, missed ticks and the dead."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas, heading, wrapped
from cron2queue.cli.screens.dead import dead_lines, letter_counts
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.queues import queue_lines
from cron2queue.cli.screens.words import duration, moment, plural, share, shown
from cron2queue.cli.screens.workers import worker_lines
from cron2queue.runtime.health import Judgement, Level, troubles
from cron2queue.runtime.sight.views import StatusView

ALERTS_SHOWN = 12
DEAD_SHOWN = 5
KINDS_SHOWN = 15
_KIND_COLUMNS = (
    Column("kind", shrinks=True),
    Column("queue", rank=3),
    Column("wait p50", right=True, rank=4),
    Column("wait p95", right=True, rank=1),
    Column("run p50", right=True, rank=4),
    Column("run p95", right=True),
    Column("done", right=True, rank=2),
    Column("failed", right=True, rank=2),
    Column("retried", right=True, rank=5),
    Column("dead", right=True, rank=5),
    Column("errors", right=True),
)


def status_lines(status: StatusView, judgements: Sequence[Judgement], canvas: Canvas) -> Iterator[Text]:
    """The screen, in lines; a section with nothing to say is left out."""
    yield from _head(status, canvas)
    yield from _alerts(troubles(judgements), canvas)
    yield Text()
    yield heading("QUEUES", "the oldest ready job against its limit first", canvas)
    yield from queue_lines(status.queues, canvas)
    yield from _kinds(status, canvas)
    yield from _paused(status, canvas)
    yield Text()
    yield heading("WORKERS")
    yield from worker_lines(status.workers, canvas)
    yield from _missed(status, canvas)
    if status.dead:
        yield Text()
        yield heading("DEAD", _dead_note(status), canvas)
        yield from dead_lines(status.dead[:DEAD_SHOWN], status.at, canvas)
    if status.dead_letters:
        yield Text()
        yield heading(
            "DEAD LETTERS", "given up by the broker in the last hour; `cron2queue dead list` tells what became", canvas
        )
        yield from letter_counts(status.dead_letters, canvas)


def _dead_note(status: StatusView) -> str:
    if status.dead_looked_at is not None:
        return f"of the newest {status.dead_looked_at:,}; `cron2queue dead list` looks at more"
    return "`cron2queue dead list` shows all, `dead requeue` gives them another chance"


def _head(status: StatusView, canvas: Canvas) -> Iterator[Text]:
    parts = (
        ("cron2queue status", "bold"),
        (shown(status.database), ""),
        (f"{status.at:%Y-%m-%d %H:%M:%S} UTC", ""),
        (plural(len(status.queues), "queue"), "dim"),
        (f"{plural(sum(worker.alive and not worker.is_relay for worker in status.workers), 'worker')} alive", "dim"),
    )
    line = Text()
    for text, style in parts:
        if line and len(line) + 3 + len(text) > canvas.width:
            yield line
            line = Text("  ")
        elif line:
            line.append("   ")
        line.append(text, style)
    yield line


def _alerts(bad: Sequence[Judgement], canvas: Canvas) -> Iterator[Text]:
    yield Text()
    if not bad:
        yield Text("  all well: no queue over a limit, no missed tick, nothing dead", "green")
        return
    critical = sum(each.level is Level.CRITICAL for each in bad)
    counts = ((critical, f"{critical} critical"), (len(bad) - critical, plural(len(bad) - critical, "warning")))
    yield Text("  " + "   ".join(text for count, text in counts if count), "bold")
    width = min(24, max(len(shown(each.subject)) for each in bad))
    for each in bad[:ALERTS_SHOWN]:
        yield from _alert(each, width, canvas)
    if len(bad) > ALERTS_SHOWN:
        yield from canvas.hinted(f"and {len(bad) - ALERTS_SHOWN} more: `cron2queue check --verbose`", "dim", indent=3)


def _alert(trouble: Judgement, width: int, canvas: Canvas) -> Iterator[Text]:
    critical = trouble.level is Level.CRITICAL
    subject = f"{shown(trouble.subject):<{width}}"
    head = f" {'C' if critical else 'W'} {subject}  "
    first, *rest = wrapped(shown(trouble.text), canvas.width, first=head, rest=" " * 8)
    first.stylize("bold red" if critical else "yellow", 1, 2)
    remedy = shown(trouble.remedy)
    beside = not rest and len(first) + 3 + len(remedy) <= canvas.width
    if remedy and beside:
        first.append(f"   {remedy}", "dim")
    yield first
    yield from rest
    if remedy and not beside:
        for line in wrapped(remedy, canvas.width, first=" " * 8, rest=" " * 8):
            line.stylize("dim")
            yield line


def _kinds(status: StatusView, canvas: Canvas) -> Iterator[Text]:
    rows = [(queue, kind) for queue in status.queues for kind in queue.kinds]
    if not rows:
        return
    grid = Grid(_KIND_COLUMNS)
    for queue, kind in sorted(rows, key=lambda row: -(row[1].dead * 1000 + row[1].failed))[:KINDS_SHOWN]:
        figures = (kind.wait_p50, kind.wait_p95, kind.run_p50, kind.run_p95)
        counts = (kind.succeeded, kind.failed, kind.retried, kind.dead)
        rate = Cell(share(kind.error_rate), "red" if (kind.error_rate or 0) >= 0.05 else "")
        names = (shown(kind.kind), shown(queue.queue))
        grid.add([*names, *map(duration, figures), *(f"{n:,}" for n in counts), rate])
    yield Text()
    hidden = len(rows) - KINDS_SHOWN
    yield heading("KINDS", "the last hour" + (f"; {hidden} quieter ones not shown" if hidden > 0 else ""), canvas)
    yield from grid.lines(canvas.width)


def _paused(status: StatusView, canvas: Canvas) -> Iterator[Text]:
    if status.paused_kinds:
        told = ", ".join(f"{shown(each.kind)} for {duration(each.seconds)} more" for each in status.paused_kinds[:KINDS_SHOWN])
        yield from wrapped(f"held back: {told}", canvas.width, first="  ", rest="    ")


def _missed(status: StatusView, canvas: Canvas) -> Iterator[Text]:
    if not status.missed:
        return
    grid = Grid(
        [
            Column("entry", shrinks=True),
            Column("schedule", rank=2),
            Column("missed", right=True),
            Column("since"),
            Column("last seen", rank=1),
        ]
    )
    for tick in status.missed:
        last = moment(tick.last_seen, status.at) if tick.last_seen else "never"
        grid.add([shown(tick.name), shown(tick.schedule), f"{tick.missed}", moment(tick.due, status.at), last])
    yield Text()
    yield heading("MISSED TICKS", "a producer that did not come although its schedule says so", canvas)
    yield from grid.lines(canvas.width)
