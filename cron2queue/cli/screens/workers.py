"""Workers as rows: who lives, when it last beat, and what it runs."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.words import duration, plural, share, shown, size
from cron2queue.runtime.sight.views import RunningView, WorkerView

RUNNING_SHOWN = 8


def worker_lines(workers: Sequence[WorkerView], canvas: Canvas) -> Iterator[Text]:
    """One row a worker with its jobs below; the silent ones first."""
    if not workers:
        yield from canvas.hinted("none: `cron2queue worker` starts one", "yellow")
        return
    grid = Grid(
        [
            *(Column("worker", shrinks=True), Column("queues", rank=2, shrinks=True), Column("version", rank=4)),
            *(Column("beat", right=True), Column("memory", right=True, rank=3), Column("runs", right=True), Column("", rank=1)),
        ]
    )
    ordered = sorted(workers, key=lambda worker: (worker.alive, worker.host, worker.pid))
    for worker in ordered:
        grid.add(_row(worker))
    lines = grid.lines(canvas.width)
    yield lines[0]
    for worker, line in zip(ordered, lines[1:], strict=True):
        yield line
        yield from _running(worker, canvas)


def silence(worker: WorkerView) -> str:
    """What it means that one beats no more."""
    return "silent: it sends no ids" if worker.is_relay else "silent: another worker of its queues takes its jobs back"


def _row(worker: WorkerView) -> list[Cell]:
    return [
        Cell(f"{shown(worker.host)}:{worker.pid}", "bold" if worker.alive else "red"),
        Cell("relay", "dim") if worker.is_relay else Cell(shown(", ".join(worker.queues))),
        Cell(shown(worker.version), "dim"),
        Cell(f"{duration(worker.beat_age)} ago" if worker.beat_age is not None else "-", "" if worker.alive else "bold red"),
        Cell(size(worker.rss_bytes)),
        Cell(str(worker.holds)),
        Cell("" if worker.alive else silence(worker), "red"),
    ]


def _running(worker: WorkerView, canvas: Canvas) -> Iterator[Text]:
    if not worker.running:
        return
    grid = Grid(
        [
            Column("kind", shrinks=True),
            Column("key", rank=1, shrinks=True),
            Column("for", right=True),
            Column("progress", rank=2, shrinks=True),
            Column("id", rank=3),
        ]
    )
    for job in worker.running[:RUNNING_SHOWN]:
        grid.add(
            [
                shown(job.kind),
                Cell(shown(job.key), "dim"),
                duration(job.seconds),
                _progress(job, canvas),
                Cell(shown(job.id), "dim"),
            ]
        )
    yield from grid.lines(canvas.width, indent=6, heading=False)
    if worker.holds.n > RUNNING_SHOWN:
        yield Text(f"      and {plural(worker.holds.n - RUNNING_SHOWN, 'more job')}", "dim")


def _progress(job: RunningView, canvas: Canvas) -> Cell:
    if job.cancel_requested:
        return Cell("cancel requested", "yellow")
    if job.fraction is None:
        return Cell(shown(job.phase) if job.phase else "", "dim")
    phase = f" {shown(job.phase)}" if job.phase else ""
    return Cell(f"{canvas.bar(job.fraction)} {share(job.fraction)}{phase}", "green")
