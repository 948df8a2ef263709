"""`show`: read the sources, and tell what the daemon understood."""

from dataclasses import dataclass
from pathlib import Path

from cron2queue.cli.clock import moment, zone_for
from cron2queue.cli.remarks import tell_unreadable
from cron2queue.cli.sources import Sources, read
from cron2queue.cli.understood.record import Asked, as_text, record
from cron2queue.cli.writing import write_file, write_stdout
from cron2queue.errors import InputError, UsageError

_FORMATS = ("terminal", "json")
_COUNT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRequest:
    """The options of `show`, by their names."""

    sources: list[str] | None
    dialect: str
    kind: str
    user: str | None
    root: Path | None
    timezone: str | None
    at: str | None
    until: str | None
    count: int | None
    format: str
    output: Path | None
    color: str
    ascii: bool
    width: int | None


def perform(request: ShowRequest) -> int:
    """Show it; the status is 3 when a source could not be read, the rest having been shown all the same."""
    if request.format not in _FORMATS:
        remedy = f"use one of {', '.join(_FORMATS)}"
        raise UsageError(f"unknown format: {request.format!r:.80}", remedy=remedy, place="--format")
    asked = _asked(request)
    sources = read(request.sources or [], dialect=request.dialect, kind=request.kind, user=request.user, root=request.root)
    tell_unreadable(sources)
    if sources.files or request.format == "json":
        _write(_text(sources, asked, request), request.output)
    return InputError.exit_status if sources.unreadable else 0


def _asked(request: ShowRequest) -> Asked:
    zone = zone_for(request.timezone, root=request.root)
    at = moment(request.at, zone)
    until = None if request.until is None else moment(request.until, zone, "--until")
    count = _COUNT if until is None and request.count is None else request.count
    return Asked(at=at, zone=zone, until=until, count=count)


def _text(sources: Sources, asked: Asked, request: ShowRequest) -> str:
    if request.format == "json":
        return as_text(record(sources.files, asked)) + "\n"
    from cron2queue.cli.screens.canvas import canvas, styled
    from cron2queue.cli.understood.screen import screen

    room = canvas(width=request.width, color=request.color, ascii_only=request.ascii)
    return styled(room, screen(sources.files, asked, room))


def _write(text: str, output: Path | None) -> None:
    if output is None:
        write_stdout(text)
    else:
        write_file(output, text)
