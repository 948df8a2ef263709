"""The work of `cron2queue audit`: read, gather evidence, judge, show; every option has become a field by then."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.cli.clock import moment, zone_for
from cron2queue.cli.operation import nearest, one_of
from cron2queue.cli.progress import Bar
from cron2queue.cli.terminal import COLORS, colored, columns, takes_ascii_only
from cron2queue.cli.writing import write_file, write_stdout
from cron2queue.errors import UsageError
from cron2queue.record import Record
from cron2queue.report.figures import failing
from cron2queue.report.reporter import RenderOptions, Reporter, reporter_named

if TYPE_CHECKING:
    from collections.abc import Collection

    from cron2queue.analyser.audit import Audit
    from cron2queue.cli.sources import Sources

FINDINGS, NOT_READ = 1, 3
THRESHOLDS = ("error", "warning", "note", "never")


class Request(Record):
    """The options of the command, as typed."""

    sources: list[str] | None
    dialect: str
    kind: str
    user: str | None
    root: Path | None
    logs: list[str] | None
    journal: str | None
    observations: Path | None
    nothing_to_do: list[str] | None
    timezone: str | None
    at: str | None
    format: str
    output: Path | None
    also: list[str] | None
    fail_on: str
    select: list[str] | None
    ignore: list[str] | None
    baseline: Path | None
    write_baseline: Path | None
    color: str
    ascii: bool
    width: int | None
    why: bool
    ask: bool
    quiet: bool
    verbose: bool


def perform(request: Request) -> int:
    """Audit and show; the exit status."""
    gc.set_threshold(200_000)  # hardly any rings are made, and to look for them often took a tenth of the time
    outputs = _outputs(request)
    one_of(request.fail_on, THRESHOLDS, "--fail-on")
    one_of(request.color, COLORS, "--color")
    _check_stdin(request)
    sources = _read(request)
    audit = _judged(request, sources)
    if request.write_baseline is not None:
        from cron2queue.cli.baseline import baseline_text

        write_file(request.write_baseline, baseline_text(audit))
    for reporter, path in outputs:
        options = _options(request, sources, to_file=path is not None)
        report = reporter.pieces(audit, options)
        write_stdout(report) if path is None else write_file(path, report)
    return _status(request, audit, sources)


def _check_stdin(request: Request) -> None:
    """Standard input can be one thing only."""
    if request.ask:
        from cron2queue.cli.asking import need_terminal

        need_terminal(sys.stdin)
    readers = [*(request.sources or []), *(request.logs or []), request.journal]
    if readers.count("-") > 1:
        remedy = "give one of them as a file"
        raise UsageError("standard input (-) is named more than once", remedy=remedy, place="-")


def _outputs(request: Request) -> list[tuple[Reporter, Path | None]]:
    """Formats and where they go; wrong names are refused before any work is done."""
    outputs = [(reporter_named(request.format), request.output)]
    for pair in request.also or []:
        name, found, path = pair.partition("=")
        if not found or not path:
            raise UsageError(f"{pair!r} is no FORMAT=FILE", remedy="write e.g. --also sarif=c2q.sarif", place="--also")
        outputs.append((reporter_named(name), Path(path)))
    return outputs


def _read(request: Request) -> Sources:
    from cron2queue.cli.remarks import remark, with_evidence
    from cron2queue.cli.sources import read

    with Bar("reading crontabs", unit="files") as bar:
        sources = read(
            request.sources or [],
            dialect=request.dialect,
            kind=request.kind,
            user=request.user,
            root=request.root,
            progress=bar,
        )
    sources = with_evidence(sources, request.logs, request.journal, request.observations)
    remark(sources, named=request.sources or (), verbose=request.verbose)
    return sources


def _judged(request: Request, sources: Sources) -> Audit:
    from cron2queue.analyser.audit import audit
    from cron2queue.cli.evidence import book_of
    from cron2queue.cli.host import facts_of_host

    zone = zone_for(request.timezone or _zone_of_plan(request.root), root=request.root)
    at = moment(request.at, zone)
    book = book_of(request, sources.files, zone, at, nothing_to_do=request.nothing_to_do or ())
    asked = {
        "at": at,
        "zone": zone,
        "select": _codes(request.select),
        "ignore": _codes(request.ignore),
        "baseline": _baseline(request),
        "host": facts_of_host(sources.files, request.root),
    }
    with Bar("judging", unit="entries") as bar:
        first = audit(sources.files, book, progress=bar, **asked)  # type: ignore[arg-type]
    if not request.ask:
        return first
    from cron2queue.cli.asking import ask

    return audit(sources.files, book, answers=ask(first), **asked)  # type: ignore[arg-type]


def _zone_of_plan(root: Path | None) -> str | None:
    """The zone of the nearest plan, which stands between the options and the host; a copied tree has its own."""
    plan = nearest(Path.cwd()) if root is None else None
    if plan is None:
        return None
    from cron2queue.runtime.settings import read_settings

    return read_settings(plan).project.timezone


def _baseline(request: Request) -> Collection[str]:
    if request.baseline is None:
        return frozenset()
    from cron2queue.cli.baseline import read_baseline

    return read_baseline(request.baseline)


def _codes(given: list[str] | None) -> tuple[str, ...]:
    """Codes are separated by commas or blanks, or the option is repeated."""
    return tuple(code for each in given or [] for code in each.replace(",", " ").split())


def _options(request: Request, sources: Sources, *, to_file: bool) -> RenderOptions:
    stream = None if to_file else sys.stdout
    return RenderOptions(
        width=request.width or columns(stream),
        color=colored(request.color, stream),
        ascii=request.ascii or takes_ascii_only(stream),
        why=request.why,
        fail_on=request.fail_on,
        next_command=_next_command(request, sources),
        unreadable=tuple(f"{each.path}: {each.reason}" for each in sources.unreadable),
        verbose=request.verbose,
        quiet=request.quiet,
    )


_MOST_NAMED = 5  # more sources than these are no command that anybody would copy


def _next_command(request: Request, sources: Sources) -> str:
    """What to type next, with the same eyes and the same evidence; nothing when there is nothing to convert."""
    import shlex

    if not any(file.entries for file in sources.files):
        return ""
    read_as = {"--dialect": request.dialect, "--kind": request.kind, "--user": request.user, "--root": request.root}
    options = [word for name, value in read_as.items() if value not in (None, "auto") for word in (name, str(value))]
    options += [word for log in request.logs or [] for word in ("--logs", str(log))]
    told = {"--journal": request.journal, "--observations": request.observations, "--timezone": request.timezone}
    options += [word for name, value in told.items() if value is not None for word in (name, str(value))]
    sources_given = request.sources or []
    named = shlex.join(sources_given) if len(sources_given) <= _MOST_NAMED else "SOURCE ..."
    command = " ".join(filter(None, ("cron2queue convert", named, shlex.join([*options, "--into", "c2q"]))))
    piped = "... | " if "-" in sources_given else ""
    return f"{piped}{command}     writes files only, changes nothing else"


def _status(request: Request, audit: Audit, sources: Sources) -> int:
    """An input that was not read outweighs findings: the report is not whole."""
    if sources.unreadable:
        return NOT_READ
    return FINDINGS if failing(audit, request.fail_on) else 0
