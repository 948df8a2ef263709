"""The tables of the page: kinds, workers, missed ticks, the dead, and what the broker gave up."""

from collections.abc import Iterator
from dataclasses import dataclass

from cron2queue.cli.screens.dead import NO_QUEUE
from cron2queue.cli.screens.words import duration, moment, plural, share, shown, size
from cron2queue.cli.screens.workers import silence
from cron2queue.runtime.sight.views import StatusView, WorkerView

ROWS = 100


@dataclass(frozen=True, slots=True)
class Head:
    """A column's heading."""

    title: str
    right: bool = False


@dataclass(frozen=True, slots=True)
class TableCell:
    """Text and the classes of the style sheet that it wears."""

    text: str
    classes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table with its heading; left out when there are no rows."""

    id: str
    title: str
    note: str
    columns: tuple[Head, ...]
    rows: tuple[tuple[TableCell, ...], ...]


def tables(status: StatusView) -> Iterator[Table]:
    """Every table that has something to say."""
    made = (_missed(status), _workers(status), _kinds(status), _dead(status), _letters(status))
    yield from (table for table in made if table.rows)


def _right(text: str, *, bad: bool = False) -> TableCell:
    return TableCell(text, "right bad" if bad else "right")


def _kinds(status: StatusView) -> Table:
    rows = [(queue.queue, kind) for queue in status.queues for kind in queue.kinds]
    rows.sort(key=lambda row: (-row[1].dead, -row[1].failed, -row[1].succeeded))
    names = ("wait p50", "wait p95", "run p50", "run p95", "done", "failed", "retried", "dead", "errors")
    cells = []
    for queue, kind in rows[:ROWS]:
        figures = (kind.wait_p50, kind.wait_p95, kind.run_p50, kind.run_p95)
        counts = (kind.succeeded, kind.failed, kind.retried, kind.dead)
        cells.append(
            (
                TableCell(shown(kind.kind), "name"),
                TableCell(shown(queue), "soft"),
                *(_right(duration(each)) for each in figures),
                *(_right(f"{each:,}") for each in counts),
                _right(share(kind.error_rate), bad=(kind.error_rate or 0) >= 0.05),
            )
        )
    columns = (Head("kind"), Head("queue"), *(Head(name, right=True) for name in names))
    held = ", ".join(f"{shown(each.kind)} for {duration(each.seconds)}" for each in status.paused_kinds[:ROWS])
    note = "the last hour" + (f"; held back: {held}" if held else "")
    return Table(id="kinds", title="Kinds", note=note, columns=columns, rows=tuple(cells))


def _workers(status: StatusView) -> Table:
    ordered = sorted(status.workers, key=lambda worker: (worker.alive, worker.host, worker.pid))
    columns = (Head("worker"), Head("queues"), Head("last beat", right=True), Head("memory", right=True), Head("runs"))
    return Table(id="workers", title="Workers", note="", columns=columns, rows=tuple(map(_worker, ordered[:ROWS])))


def _worker(worker: WorkerView) -> tuple[TableCell, ...]:
    running = ", ".join(_job(job.kind, job.seconds, job.fraction) for job in worker.running[:8])
    if worker.holds.n > len(worker.running[:8]):
        running += f" and {plural(worker.holds.n - len(worker.running[:8]), 'more job')}"
    beat = "-" if worker.beat_age is None else f"{duration(worker.beat_age)} ago"
    return (
        TableCell(f"{shown(worker.host)}:{worker.pid}", "name" if worker.alive else "name bad"),
        TableCell("relay" if worker.is_relay else shown(", ".join(worker.queues)), "soft"),
        _right(beat, bad=not worker.alive),
        _right(size(worker.rss_bytes)),
        TableCell(running or "idle") if worker.alive else TableCell(silence(worker), "bad"),
    )


def _job(kind: str, seconds: float | None, fraction: float | None) -> str:
    return f"{shown(kind)} for {duration(seconds)}" + ("" if fraction is None else f" ({share(fraction)})")


def _missed(status: StatusView) -> Table:
    rows = tuple(
        (
            TableCell(shown(tick.name), "name"),
            TableCell(shown(tick.schedule), "mono"),
            _right(f"{tick.missed}", bad=True),
            TableCell(moment(tick.due, status.at), "nowrap"),
            TableCell(moment(tick.last_seen, status.at) if tick.last_seen else "never", "nowrap"),
        )
        for tick in status.missed[:ROWS]
    )
    columns = (Head("entry"), Head("schedule"), Head("missed", right=True), Head("since"), Head("last seen"))
    note = "a producer that did not come although its schedule says so"
    return Table(id="missed", title="Missed ticks", note=note, columns=columns, rows=rows)


def _dead(status: StatusView) -> Table:
    rows = tuple(
        (
            _right(f"{group.count:,}", bad=True),
            TableCell(shown(group.kind), "name"),
            TableCell(shown(group.error) if group.error else "no message"),
            TableCell(moment(group.last, status.at), "nowrap"),
            TableCell(shown(group.example), "mono soft"),
        )
        for group in status.dead[:ROWS]
    )
    columns = (Head("dead", right=True), Head("kind"), Head("error"), Head("last"), Head("for example"))
    counted = "" if status.dead_looked_at is None else f", of the newest {status.dead_looked_at:,}"
    note = f"by kind and error{counted}"
    return Table(id="dead", title="Dead", note=note, columns=columns, rows=rows)


def _letters(status: StatusView) -> Table:
    rows = tuple(
        (
            _right(f"{each.n:,}", bad=True),
            TableCell(shown(each.queue) if each.queue != NO_QUEUE else "none of ours", "name"),
            TableCell(shown(each.reason)),
        )
        for each in status.dead_letters[:ROWS]
    )
    columns = (Head("letters", right=True), Head("queue"), Head("reason"))
    note = "given up by the broker in the last hour"
    return Table(id="letters", title="Dead letters", note=note, columns=columns, rows=rows)
