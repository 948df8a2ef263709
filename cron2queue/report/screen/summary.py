"""The top of the report: what was read, how it is known, how much was found; and its end: the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cron2queue.report.figures import IGNORED, contents, counted, decisions, failing, ignored, remarks, source_name, starts
from cron2queue.report.screen.ink import Ink, flowing, hanging, joined, spread, styled
from cron2queue.report.screen.line import Line

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.report.reporter import RenderOptions

_GAP = "   "
_FEW = 6  # files that are named each
_REMARKS = 3  # on all the others


def title(audit: Audit, ink: Ink) -> list[Line]:
    """Source, dialect, zone, entries and evidence window on one line, or as few as they need."""
    files = audit.files
    source = ink.text(source_name(files[0].path)) if len(files) == 1 else counted(len(files), "file")
    dialects = " and ".join(dict.fromkeys(file.dialect for file in files)) or "none"
    entries = counted(sum(len(file.entries) for file in files), "entry")
    facts = [source, f"dialect {dialects}", ink.text(str(audit.zone)), entries, f"evidence: {_evidence(audit, ink)}"]
    lines = flowing(["cron2queue audit", *facts], ink.width)
    return [joined((lines[0][:16], "heading"), lines[0][16:]), *(Line(line) for line in lines[1:])]


def _evidence(audit: Audit, ink: Ink) -> str:
    book = audit.book
    if not book.available:
        return "none"
    sources = ", ".join(ink.text(source) for source in book.sources[:2]) + (", ..." if len(book.sources) > 2 else "")
    window = f", {max(1, round(book.window.days))} d" if book.window else ""
    return f"{sources}{window}"


def figures(audit: Audit, ink: Ink) -> list[Line]:
    """Findings by severity, starts, peak; then what becomes of the entries. All numbers add up."""
    s = audit.summary
    left = "  " + _GAP.join((counted(s.error, "error"), counted(s.warning, "warning"), counted(s.note, "note")))
    by_comment = s.suppressed - s.baseline if s.suppressed >= s.baseline else s.suppressed
    hidden = [f"{n} {words}" for n, words in ((by_comment, "ignored"), (s.baseline, "in the baseline")) if n]
    left += f"{_GAP}({', '.join(hidden)})" if hidden else ""
    right = "/".join(starts(s.starts_per_day))
    right += f"{_GAP}peak {audit.load.peak} alive" if audit.load and audit.load.peak else ""
    words = [f"{number} {what}" for number, what in decisions(audit)]
    if words:
        number, _, what = words[0].partition(" ")
        words[0] = f"{number} {'entry' if number == '1' else 'entries'} {what}"
    outcome = flowing([f"  {words[0]}", *words[1:]], ink.width) if words else []
    return [Line(row) for row in [*spread(ink, left, right), *outcome]]


def files(audit: Audit, ink: Ink) -> list[Line]:
    """What each file holds, by kinds of line that add up; and what was assumed or could not be used.

    Of many files those are named that cron does not read whole; the others are summed up.
    """
    if ink.verbose or len(audit.files) <= _FEW:
        return [row for file in audit.files for row in _file(file, ink)]
    named = [file for file in audit.files if not file.loaded or file.malformed][:_FEW]
    known = {id(file) for file in named}
    others = [file for file in audit.files if id(file) not in known]
    return [*(row for file in named for row in _file(file, ink)), *_others(others, "more file" if named else "file", ink)]


def _file(file: CrontabFile, ink: Ink) -> list[Line]:
    lines = _counted([f"  {ink.text(source_name(file.path))} ", f"{file.dialect}, {file.kind} "], file.counts, ink)
    why = ignored(file)
    if why is not None:
        said = f"{IGNORED}: {ink.text(why)}"
        lines += [styled(row, "error") for row in hanging(said, ink.width, first="    ")]
    return [*lines, *_remarks(remarks(file), ink)]


def _others(others: Sequence[CrontabFile], word: str, ink: Ink) -> list[Line]:
    """The files that are not named, as one: their lines together, and each remark once."""
    counts: Counter[str] = Counter()
    for file in others:
        counts.update(file.counts)
    kinds = dict.fromkeys(f"{file.dialect}, {file.kind}" for file in others)
    told = dict.fromkeys(note for file in others for note in remarks(file))
    head = [f"  {counted(len(others), word)}; --verbose shows each ", f"{'; '.join(kinds)} "]
    return [*_counted(head, counts, ink), *_remarks(list(told)[:_REMARKS], ink)]


def _remarks(notes: Sequence[str], ink: Ink) -> list[Line]:
    return [styled(row, "quiet") for note in notes for row in hanging(ink.text(note), ink.width, first="    ")]


def _counted(head: list[str], counts: Mapping[str, int], ink: Ink) -> list[Line]:
    sums = [f"{'+' if position else '='} {part}" for position, part in enumerate(contents(counts))]
    parts = [*head, counted(counts["lines"], "line"), *sums]
    return [Line(row) for row in flowing(parts, ink.width, indent="    ", gap=" ")]


def result(audit: Audit, options: RenderOptions, ink: Ink) -> list[Line]:
    """FAIL or OK with the threshold and the exit status, sources that could not be read, and what to type next."""
    lines: list[Line] = []
    for reason in options.unreadable:
        lines += [styled(row, "error") for row in hanging(ink.text(reason), ink.width, first="NOT READ  ")]
    failed = failing(audit, options.fail_on)
    status = 3 if options.unreadable else 1 if failed else 0
    word = "FAIL" if failed else "INCOMPLETE" if options.unreadable else "OK  "
    rows = spread(ink, f"{word} {_found(failed, options)}", f"exit status {status}")
    lines.append(joined((word, "error" if status else "good"), rows[0][len(word) :]))
    lines += [Line(row) for row in rows[1:]]
    command, gap, remark = options.next_command.partition("     ")
    parts = [ink.text(command), ink.text(remark.strip())] if gap else [ink.text(command)]
    rows = flowing(parts, ink.width - 5, gap="     ") if command else []
    lines += [joined(("Next " if not n else "     ", "heading"), row) for n, row in enumerate(rows)]
    return lines


def _found(failed: int, options: RenderOptions) -> str:
    threshold = f"--fail-on={options.fail_on}"
    unread = f"; {counted(len(options.unreadable), 'source')} not read" if options.unreadable else ""
    if not failed:
        return f"nothing at or above {threshold}{unread}"
    at_least = "" if options.fail_on == "error" else f" of {options.fail_on} or worse"
    return f"{counted(failed, 'finding' if at_least else 'error')}{at_least}, threshold {threshold}{unread}"
