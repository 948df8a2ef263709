"""The status as one HTML page for a wall or a web server: no script, no request, nothing to log in to, nothing to press.

Every decision is made here; the template loops and shows. Foreign text is made safe first and escaped by the template.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote

from cron2queue import __version__
from cron2queue.bundled import data_root
from cron2queue.cli.screens.page_tables import Table, tables
from cron2queue.cli.screens.words import duration, plural, share, shown
from cron2queue.errors import Cron2QueueError
from cron2queue.runtime.health import Judgement, Level, troubles, worst
from cron2queue.runtime.sight.views import QueueView, StatusView

ALERTS_SHOWN = 50
_LEVELS = {Level.OK: "ok", Level.WARNING: "warning", Level.CRITICAL: "critical", Level.UNKNOWN: "warning"}
_COLORS = {"ok": "2c7a4b", "warning": "d98a00", "critical": "b3261e"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAlert:
    """One line of trouble."""

    level: str
    word: str
    subject: str
    text: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of a card."""

    name: str
    value: str
    loud: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageQueue:
    """One queue's card; `gauge` is 0 to 100, None without a limit."""

    name: str
    level: str
    remark: str
    oldest: str
    oldest_note: str
    gauge: float | None
    gauge_label: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """All that the template shows."""

    title: str
    icon: str
    level: str
    verdict: str
    database: str
    at: str
    summary: str
    alerts: tuple[PageAlert, ...]
    queues: tuple[PageQueue, ...]
    tables: tuple[Table, ...]
    version: str
    refresh_seconds: int
    refresh_note: str
    answered: bool = True


def status_page(status: StatusView, judgements: Sequence[Judgement], *, refresh_seconds: int = 0) -> str:
    """The page. With `refresh_seconds` the browser loads it again by itself, for a page that is written again and again."""
    return _rendered(page_of(status, judgements, refresh_seconds=refresh_seconds))


def trouble_page(trouble: Cron2QueueError, at: datetime, *, refresh_seconds: int = 0) -> str:
    """The page while nothing can be looked at: what stood there before would be taken for the present."""
    alert = PageAlert(
        level="critical", word="Critical", subject="database", text=shown(trouble.message), remedy=shown(trouble.remedy)
    )
    page = Page(
        title="CRITICAL · cron2queue",
        icon=_icon("critical"),
        level="critical",
        verdict="The job table cannot be looked at",
        database="",
        at=f"tried at {at:%Y-%m-%d %H:%M:%S} UTC",
        summary="nothing is known of the queues",
        alerts=(alert,),
        queues=(),
        tables=(),
        version=__version__,
        refresh_seconds=refresh_seconds,
        refresh_note=_refresh_note(refresh_seconds),
        answered=False,
    )
    return _rendered(page)


def _rendered(page: Page) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(data_root("templates") / "status"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(page=page)


def page_of(status: StatusView, judgements: Sequence[Judgement], *, refresh_seconds: int = 0) -> Page:
    """What the page says."""
    bad = troubles(judgements)
    level = _LEVELS[worst(each.level for each in judgements)]
    alive = sum(worker.alive and not worker.is_relay for worker in status.workers)
    verdict = "All well" if not bad else f"{shown(bad[0].subject)}: {shown(bad[0].text)}"
    return Page(
        title=f"{'OK' if not bad else bad[0].level.name} · cron2queue",
        icon=_icon(level),
        level=level,
        verdict=verdict,
        database=shown(status.database),
        at=f"{status.at:%Y-%m-%d %H:%M:%S} UTC",
        summary=f"{plural(len(status.queues), 'queue')}, {plural(alive, 'worker')} alive",
        alerts=tuple(_alert(each) for each in bad[:ALERTS_SHOWN]),
        queues=tuple(_queue(queue, judgements) for queue in sorted(status.queues, key=lambda queue: queue.urgency)),
        tables=tuple(tables(status)),
        version=__version__,
        refresh_seconds=refresh_seconds,
        refresh_note=_refresh_note(refresh_seconds),
    )


def _refresh_note(refresh_seconds: int) -> str:
    return f"loads again every {refresh_seconds} s" if refresh_seconds else "a still picture"


def _icon(level: str) -> str:
    circle = f"<circle cx='4' cy='4' r='4' fill='#{_COLORS[level]}'/>"
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'>{circle}</svg>"
    return "data:image/svg+xml," + quote(drawing, safe="=' :/")


def _alert(trouble: Judgement) -> PageAlert:
    return PageAlert(
        level=_LEVELS[trouble.level],
        word=trouble.level.name.capitalize(),
        subject=shown(trouble.subject),
        text=shown(trouble.text),
        remedy=trouble.remedy and shown(trouble.remedy),
    )


def _queue(queue: QueueView, judgements: Sequence[Judgement]) -> PageQueue:
    about = (each.level for each in judgements if each.subject == queue.queue)
    limit, age = queue.age_limit, queue.oldest_ready_seconds
    card = PageQueue(
        name=shown(queue.queue),
        level=_LEVELS[worst(about)],
        remark=shown(queue.pause) if queue.paused else "",
        oldest="0s" if age is None else duration(age),
        oldest_note="nothing waits" if age is None else "oldest",
        gauge=None,
        gauge_label="",
        figures=tuple(_figures(queue)),
    )
    if not limit:
        return card
    used = (age or 0.0) / limit
    note = f"{card.oldest_note}, limit {duration(limit)}"
    return replace(card, oldest_note=note, gauge=round(min(100.0, 100 * used), 1), gauge_label=f"{share(used)} of the limit")


def _figures(queue: QueueView) -> Iterator[Figure]:
    yield Figure(name="ready", value=str(queue.count("ready")), loud=queue.over_depth)
    running = str(queue.held)
    yield Figure(name="running", value=f"{running} of {queue.concurrency}" if queue.concurrency else running)
    yield Figure(name="scheduled", value=str(queue.count("scheduled")))
    if queue.count("blocked").n:
        yield Figure(name="blocked", value=str(queue.count("blocked")))
    if queue.refused:
        yield Figure(name="refused in the hour", value=f"{queue.refused:,}", loud=True)
    yield Figure(name="dead", value=str(queue.count("dead")), loud=queue.count("dead").n > 0)
