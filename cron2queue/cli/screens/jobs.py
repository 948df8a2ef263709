"""Jobs as rows, and one job with everything that happened to it."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.text import Text

from cron2queue.cli.screens.canvas import Canvas, heading, wrapped
from cron2queue.cli.screens.grid import Cell, Column, Grid
from cron2queue.cli.screens.words import duration, how_it_ended, moment, share, shown, size
from cron2queue.runtime.sight.views import ActionView, AttemptView, JobView
from cron2queue.runtime.verbs.given_up import VERB, told

STATE_STYLES = {
    "dead": "bold red",
    "succeeded": "green",
    "running": "cyan",
    "cancel_requested": "yellow",
    "blocked": "yellow",
}
_LABEL = 11
_COLUMNS = (
    Column("id"),
    Column("state"),
    Column("kind", shrinks=True),
    Column("key", shrinks=True, rank=4),
    Column("queue", rank=6),
    Column("tries", right=True, rank=5),
    Column("since", rank=3),
    Column("message", shrinks=True, rank=2, least=28),
)


def jobs_screen(jobs: Sequence[JobView], now: datetime, canvas: Canvas, *, more: bool, partial: bool) -> Iterator[Text]:
    """One row a job, newest first; on a narrow screen the id stands alone above its row, since nothing works without it."""
    if not jobs:
        yield Text("no job fits" + (" among the newest that were looked at" if partial else ""), "dim")
        return
    yield from _narrow(jobs, now, canvas) if canvas.width < 72 else _wide(jobs, now, canvas)
    if more:
        yield Text(f"there are more: --before {jobs[-1].id} shows the next ones", "dim")
    if partial:
        yield Text("older jobs were not looked at: --state or --queue narrow the look", "dim")


def _wide(jobs: Sequence[JobView], now: datetime, canvas: Canvas) -> Iterator[Text]:
    grid = Grid(_COLUMNS)
    for job in jobs:
        grid.add(_row(job, now))
    yield from grid.lines(canvas.width, indent=0)


def _row(job: JobView, now: datetime) -> list[Cell]:
    return [
        Cell(job.id),
        Cell(shown(job.state), STATE_STYLES.get(job.state, "")),
        Cell(shown(job.kind)),
        Cell(shown(job.key), "dim"),
        Cell(shown(job.queue), "dim"),
        Cell(f"{job.attempts}/{job.max_attempts}"),
        Cell(moment(job.finished_at or job.started_at or job.ready_at or job.created_at, now)),
        Cell(_remark(job, now)),
    ]


def _remark(job: JobView, now: datetime) -> str:
    if job.fraction is not None and job.state in ("running", "cancel_requested"):
        return f"{share(job.fraction)} {shown(job.phase) if job.phase else ''}".rstrip()
    text = shown(job.message) if job.message else ""
    if job.state == "scheduled" and job.run_at is not None:
        wait = (job.run_at - now).total_seconds()
        when = f"in {duration(wait)}" if wait > 0 else f"due for {duration(-wait)}"
        return when + (f", after: {text}" if text else "")
    return text


def _narrow(jobs: Sequence[JobView], now: datetime, canvas: Canvas) -> Iterator[Text]:
    for job in jobs:
        yield Text(job.id, "dim")
        head = Text("  ")
        head.append(shown(job.state), STATE_STYLES.get(job.state, "")).append(f"  {shown(job.kind)}  ")
        yield head.append(f"{job.attempts}/{job.max_attempts}", "dim")
        if remark := _remark(job, now):
            yield from wrapped(remark, canvas.width, first="  ", rest="  ")


def job_screen(job: JobView, now: datetime, canvas: Canvas, *, payload: bool) -> Iterator[Text]:
    """The whole story of one job: what it is, every attempt with its output, who did what."""
    yield heading(shown(job.kind), job.id, canvas)
    if len(shown(job.kind)) + 3 + len(job.id) > canvas.width:
        yield Text(job.id, "dim")
    yield Text.assemble("  ", (shown(job.state), STATE_STYLES.get(job.state, "bold")), f"   {_attempts_used(job)}")
    yield Text()
    for label, value in _facts(job, now, payload=payload):
        yield from wrapped(value, canvas.width, first=f"  {label:<{_LABEL}} ", rest=" " * (_LABEL + 3))
    for attempt in job.history:
        yield Text()
        yield from _attempt(attempt, now, canvas)
    if job.actions:
        yield Text()
        yield heading("ACTIONS")
        yield from action_lines(job.actions, now, canvas)


def _attempts_used(job: JobView) -> str:
    crashes = f", {job.crashes} crashed" if job.crashes else ""
    return f"attempt {job.attempts} of {job.max_attempts}{crashes}"


def _facts(job: JobView, now: datetime, *, payload: bool) -> Iterator[tuple[str, str]]:
    facts: tuple[tuple[str, str | None], ...] = (
        ("message", job.message),
        ("key", job.key),
        ("queue", f"{job.queue}, priority {job.priority}"),
        ("owner", job.owner),
        ("in order of", job.ordering_key),
        ("worker", job.worker),
        ("progress", None if job.fraction is None else f"{share(job.fraction)} {job.phase or ''}".rstrip()),
        ("result", job.result),
        ("created", moment(job.created_at, now)),
        ("due", moment(job.run_at, now) if job.state in ("scheduled", "blocked") else None),
        ("started", moment(job.started_at, now) if job.started_at else None),
        ("finished", moment(job.finished_at, now) if job.finished_at else None),
        ("cancel", _cancel(job, now)),
        ("payload", job.payload if payload else f"{len(job.payload.encode('utf-8', 'replace')):,} bytes; --payload shows it"),
    )
    yield from ((label, shown(value)) for label, value in facts if value)


def _cancel(job: JobView, now: datetime) -> str | None:
    return f"{moment(job.cancel_requested_at, now)} by {job.cancel_requested_by or '-'}" if job.cancel_requested_at else None


def _attempt(attempt: AttemptView, now: datetime, canvas: Canvas) -> Iterator[Text]:
    good = attempt.outcome in ("done", "succeeded")
    facts = [
        f"ran {duration(attempt.run_seconds)}" if attempt.run_seconds is not None else "",
        f"waited {duration(attempt.wait_seconds)}" if attempt.wait_seconds is not None else "",
        how_it_ended(attempt.exit_status, attempt.signal),
        size(attempt.max_rss_bytes) if attempt.max_rss_bytes else "",
    ]
    head = Text.assemble(
        (f"ATTEMPT {attempt.attempt}", "bold"), "   ", (shown(attempt.outcome), "green" if good else "bold red")
    )
    yield head
    times = f"{moment(attempt.started_at, now)} to {moment(attempt.ended_at, now)}"
    worker = f"on {shown(attempt.worker)}" if attempt.worker else ""
    about = "   ".join(each for each in (times, *facts, worker) if each)
    yield from wrapped(about, canvas.width, first="  ", rest="  ")
    for label, text in (("message", attempt.message), ("diagnostic", attempt.diagnostic), ("output", attempt.output_tail)):
        yield from _block(label, text, canvas)


def _block(label: str, text: str, canvas: Canvas) -> Iterator[Text]:
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    if len(lines) == 1:
        yield from wrapped(shown(lines[0]), canvas.width, first=f"  {label:<{_LABEL}} ", rest=" " * (_LABEL + 3))
    elif lines:
        yield Text(f"  {label}", "dim")
        for line in lines:
            yield from wrapped(shown(line) if line else "", canvas.width, first="    | ", rest="    | ")


def action_lines(actions: Sequence[ActionView], now: datetime, canvas: Canvas) -> Iterator[Text]:
    """One row for each thing that an operator did, or that befell a message."""
    grid = Grid([Column("when"), Column("who", shrinks=True), Column("what"), Column("details", shrinks=True, rank=1)])
    for action in actions:
        details = told(action.details) if action.action == VERB else action.details
        grid.add([moment(action.at, now), shown(action.by), shown(action.action), shown(details)])
    yield from grid.lines(canvas.width)
