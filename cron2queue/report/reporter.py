"""The contract of the reporters: one class a module in reporters/, found by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from cron2queue.discovery import member, members, module_names
from cron2queue.errors import UsageError
from cron2queue.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cron2queue.analyser.audit import Audit
    from cron2queue.crontab.lines import CrontabFile

_FAMILY = "cron2queue.report.reporters"


class RenderOptions(Record):
    """How the reader wants it.

    `width` in columns; `why` prints the signs behind each verdict; `fail_on` is "error", "warning", "note" or "never";
    `next_command` is what to type next; `unreadable` are sources that could not be read, each with its reason;
    `verbose` unfolds what is folded into counts, `quiet` leaves only the summary and the result.
    """

    width: int = 100
    color: bool = False
    ascii: bool = False
    why: bool = False
    fail_on: str = "error"
    next_command: str = ""
    unreadable: tuple[str, ...] = ()
    verbose: bool = False
    quiet: bool = False


class Reporter(ABC):
    """One format. It decides nothing: whatever it prints stands in the audit, made safe and redacted on the way."""

    name: ClassVar[str]

    def render(self, audit: Audit, options: RenderOptions) -> str:
        """The whole report, ending in a line break."""
        return "".join(self.pieces(audit, options))

    def pieces(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """The same in its order, piece by piece: that of a fleet is long."""
        return self.write(with_whole_lines(audit), options)

    @abstractmethod
    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """The pieces of the report of an audit whose findings quote whole lines."""


def _torn(file: CrontabFile) -> Iterator[tuple[int, bytes]]:
    """The lines that were read in pieces, whole."""
    if len({line.number for line in file.lines}) == len(file.lines):
        return
    pieces: dict[int, list[bytes]] = {}
    for line in file.lines:
        pieces.setdefault(line.number, []).append(line.raw)
    yield from ((number, b"".join(raw)) for number, raw in pieces.items() if len(raw) > 1)


def with_whole_lines(audit: Audit) -> Audit:
    """Where a daemon reads one line in pieces, findings quote the line: in a piece alone no secret could be recognised."""
    torn: dict[tuple[str, int | None], bytes] = {
        (file.path, number): whole for file in audit.files for number, whole in _torn(file)
    }
    if not torn:
        return audit
    return audit.but(
        findings=tuple(
            finding.but(raw=torn[finding.place.path, finding.place.line])
            if finding.raw is not None and (finding.place.path, finding.place.line) in torn
            else finding
            for finding in audit.findings
        ),
    )


def reporter_names() -> list[str]:
    """The names of all formats, without importing them."""
    return module_names(_FAMILY)


def reporter_named(name: str) -> Reporter:
    """The reporter of this name; raises UsageError with the nearest name for any other. Imports only that one."""
    names = reporter_names()
    if name not in names:
        import difflib  # only a mistake needs it

        near = difflib.get_close_matches(name, names, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"use one of {', '.join(names)}"
        raise UsageError(f"there is no format {name!r}", remedy=remedy, place="--format")
    return member(_FAMILY, Reporter, name)()  # type: ignore[type-abstract]


def all_reporters() -> list[Reporter]:
    """One of each, in the order of their names."""
    return [each() for each in members(_FAMILY, Reporter)]  # type: ignore[type-abstract]
