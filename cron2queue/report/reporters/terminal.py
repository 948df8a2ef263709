"""terminal: for the person at the keyboard; right at any width from 40 columns, with or without colour, in ASCII or not."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar

from cron2queue.report.figures import Places, standing
from cron2queue.report.reporter import RenderOptions, Reporter
from cron2queue.report.screen import findings, load, order, summary
from cron2queue.report.screen.ink import Ink, hanging, heading
from cron2queue.report.screen.line import Line

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit


class TerminalReporter(Reporter):
    """Is something broken, what costs most, what to do first, what to leave alone, and how sure we are: in this order."""

    name: ClassVar[str] = "terminal"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """Lines of at most `options.width` columns; colour only where asked for."""
        ink = Ink(width=max(40, options.width), ascii=options.ascii, places=Places(audit), verbose=options.verbose)
        lines = _parted(_blocks(audit, options, ink))
        return _colored(lines, ink.width) if options.color else (f"{line.plain.rstrip()}\n" for line in lines)


def _blocks(audit: Audit, options: RenderOptions, ink: Ink) -> Iterator[Iterable[Line]]:
    yield summary.title(audit, ink)
    yield [*summary.figures(audit, ink), *summary.files(audit, ink)]
    if not options.quiet:
        yield findings.section(audit, ink)
        yield _no_evidence(audit, ink)
        yield load.section(audit, ink)
        yield load.chains(audit, ink)
        yield order.section(audit, ink, why=options.why)
    yield summary.result(audit, options, ink)


def _parted(blocks: Iterable[Iterable[Line]]) -> Iterator[Line]:
    """All lines, with an empty one before each block but the first; a block without lines is none."""
    for place, block in enumerate(blocks):
        for number, line in enumerate(block):
            if place and not number:
                yield Line()
            yield line


def _no_evidence(audit: Audit, ink: Ink) -> list[Line]:
    """Without logs no duration is known; how to get them is one line."""
    book = audit.book
    skipped = [Line(row) for part in book.skipped for row in hanging(ink.text(part), ink.width, first="  not used: ")]
    if book.available:
        return [*heading(ink, "EVIDENCE"), *skipped] if skipped else []
    told = any(book.how_to_get_evidence in finding.remedy for finding in standing(audit))
    said = [] if told else [Line(row) for row in hanging(ink.text(book.how_to_get_evidence), ink.width, first="  ")]
    none = "none: durations, overlaps and empty runs are unknown, and none is invented"
    return [*heading(ink, "EVIDENCE", none), *said, *skipped]


def _colored(lines: Iterable[Line], width: int) -> Iterator[str]:
    from rich.console import Console

    sink = io.StringIO()
    console = Console(
        file=sink, width=width, force_terminal=True, color_system="standard", markup=False, emoji=False, highlight=False
    )  # fmt: skip
    for line in lines:
        console.print(line.colored(), overflow="ignore", no_wrap=True, crop=False)
        yield sink.getvalue()
        sink.seek(0)
        sink.truncate()
