"""Looking once, or again and again: a status that a person or a wall watches."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from cron2queue.cli.operation import Operation, completed
from cron2queue.cli.schedules import missed_ticks
from cron2queue.cli.screens.canvas import as_json, canvas, put, styled
from cron2queue.cli.screens.page import status_page, trouble_page
from cron2queue.cli.screens.records import status_record
from cron2queue.cli.screens.status import status_lines
from cron2queue.cli.screens.words import shown
from cron2queue.cli.trouble import say
from cron2queue.errors import Cron2QueueError, DatabaseUnavailable, TryAgain
from cron2queue.runtime.health import Judgement, judge
from cron2queue.runtime.sight.views import COUNT_CAP, StatusView


def looked(operation: Operation) -> tuple[StatusView, list[Judgement]]:
    """One look at everything, and what is to be thought of it."""
    with operation.inspection() as inspection:
        planned = operation.settings.queues if operation.settings else None
        alerts, missed = operation.alerts, missed_ticks(operation, inspection)
        status = inspection.status(planned=planned, missed=missed, cap=max(COUNT_CAP, alerts.counted_to))
    found = judge(status, alerts, relayed=operation.is_relayed)
    return status, [replace(each, remedy=completed(each.remedy, operation.options)) for each in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """How to look and where to put what was seen; `away` is put into a file whose picture would be out of date."""

    render: Callable[[], str]
    output: Path | None
    away: Callable[[Cron2QueueError], str] | None = None

    def put(self) -> None:
        """Look once and put it there."""
        try:
            text = self.render()
        except Cron2QueueError as trouble:
            if self.away is not None and self.output is not None:
                put(self.away(trouble), self.output)
            raise
        put(text, self.output)


def shown_once(
    operation: Operation,
    format: str,
    *,
    output: Path | None,
    color: str,
    ascii_only: bool,
    width: int | None,
    every: float,
) -> Show:
    """The look in one of the formats."""
    refresh = max(1, round(every)) if every else 0

    def render() -> str:
        to_file, options = output is not None, operation.options
        room = canvas(width=width, color=color, ascii_only=ascii_only, to_file=to_file, options=options)
        status, judgements = looked(operation)
        if format == "json":
            return as_json(status_record(status, judgements))
        if format == "html":
            return status_page(status, judgements, refresh_seconds=refresh)
        return styled(room, status_lines(status, judgements, room))

    def away(trouble: Cron2QueueError) -> str:
        return trouble_page(trouble, datetime.now(UTC), refresh_seconds=refresh)

    return Show(render=render, output=output, away=away if format == "html" else None)


def repeated(show: Show, every: float, *, live: bool) -> None:
    """Look again and again until interrupted; a database that is away for a while is told and waited for."""
    if live and sys.stdout.isatty():
        _live(show, every)
        return
    while True:
        try:
            show.put()
        except (DatabaseUnavailable, TryAgain) as trouble:
            say(f"{trouble.message}; trying again")
        time.sleep(every)


def _live(show: Show, every: float) -> None:
    from rich.live import Live

    with Live(Text(""), screen=True, auto_refresh=False) as screen:
        while True:
            screen.update(Text.from_ansi(_or_trouble(show)), refresh=True)
            time.sleep(every)


def _or_trouble(show: Show) -> str:
    try:
        return show.render()
    except (DatabaseUnavailable, TryAgain) as trouble:
        return f"{shown(trouble.message)}\n\ntrying again"
