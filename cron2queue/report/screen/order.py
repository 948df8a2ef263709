"""MIGRATION ORDER: what becomes of each entry, by pain; with --why the signs behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import BECOMES, Decision
from cron2queue.durations import duration
from cron2queue.record import Record
from cron2queue.report.columns import columns, fitted, folded
from cron2queue.report.figures import counted, evidence_of, per_day, runs_per_day
from cron2queue.report.screen.ink import STYLES, Ink, hanging, heading, joined, styled
from cron2queue.report.screen.line import Line

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.verdicts import Signs, Verdict

_STAY = 20  # rows for entries that need nothing; the rest is a count
_BELOW = " " * 9
_WORDS = len(BECOMES[Decision.GUARD])  # columns that the words for a decision have on any screen
_LEAST_ROOM = 24  # for a reason beside its row; with less it stands below
_SIGN_WORDS = {
    "mostly_empty": "mostly empty",
    "overlap_hurts": "overlap hurts",
    "user_waits": "a user waits",
    "lost_on_failure": "lost on failure",
}


class Column(Record):
    """A column of the table: its heading, its width, whether figures stand to the right."""

    title: str
    width: int
    right: bool = False


def section(audit: Audit, ink: Ink, *, why: bool) -> Iterator[Line]:
    """The table of all entries; every entry has one row."""
    if not audit.verdicts:
        return
    hint = "by pain, not by effort" if why else "by pain, not by effort; --why prints the signs"
    yield from heading(ink, "MIGRATION ORDER", hint)
    table = _columns(audit, ink)
    room = _room(audit, table, ink)
    titles = " ".join(fitted(c.title, c.width, right=c.right) for c in table)
    yield styled(f"{titles}  because" if room else titles.rstrip(), "quiet")
    stay = 0
    for verdict in audit.verdicts:
        stay += verdict.decision == "KEEP"
        if verdict.decision == "KEEP" and stay > _STAY and not (why or ink.verbose):
            continue
        yield from _row(audit, verdict, table, room, ink)
        yield from _signs(verdict.signs, ink) if why else ()
        for question in verdict.questions if why or verdict.decision == "ASK" else ():
            yield from (Line(line) for line in hanging(ink.text(question), ink.width, first="       ? "))
    yield from _more_stay(stay, why, ink)
    yield from _how_to_answer(audit, ink)


def _more_stay(stay: int, why: bool, ink: Ink) -> list[Line]:
    if stay <= _STAY or why or ink.verbose:
        return []
    said = f"and {counted(stay - _STAY, 'more entry')} to leave alone; --verbose names them"
    return [styled(row, "quiet") for row in hanging(said, ink.width, first="  ", rest="  ")]


def _how_to_answer(audit: Audit, ink: Ink) -> list[Line]:
    if not any(verdict.decision == "ASK" and verdict.questions for verdict in audit.verdicts):
        return []
    said = "answer with --ask, or in a comment above the line: # cron2queue: lost-on-failure=yes"
    return [styled(row, "quiet") for row in hanging(said, ink.width, first="  ", rest="  ")]


def _where(audit: Audit, verdict: Verdict, ink: Ink) -> str:
    line = verdict.entry.number
    return str(line) if ink.places.one_file else ink.places.of(verdict.path, line, ink.text)


def _p95(audit: Audit, verdict: Verdict, ink: Ink) -> str:
    evidence = evidence_of(audit, verdict)
    return duration(evidence.p95_seconds, resolution=evidence.resolution) if evidence else "-"


_CELLS: Mapping[str, Callable[[Audit, Verdict, Ink], str]] = {
    "#": lambda audit, verdict, ink: "-" if verdict.order is None else str(verdict.order),
    "line": _where,
    "job": lambda audit, verdict, ink: ink.text(verdict.name),
    "runs/day": lambda audit, verdict, ink: per_day(runs_per_day(verdict)),
    "p95": _p95,
    "becomes": lambda audit, verdict, ink: ink.text(verdict.becomes),
    "overlap": lambda audit, verdict, ink: verdict.overlap or "-",
}


def _width(audit: Audit, ink: Ink, name: str, limit: int) -> int:
    """That of the widest cell or of the limit; once that is reached, the rest is not looked at: there may be many entries."""
    wide, cell = columns(name), _CELLS[name]
    for verdict in audit.verdicts:
        if wide >= limit:
            return limit
        wide = max(wide, columns(cell(audit, verdict, ink)))
    return min(wide, limit)


def _columns(audit: Audit, ink: Ink) -> list[Column]:
    """Widths by content within limits; below 80 columns five columns are kept, and the reason stands below."""
    names = list(_CELLS) if ink.width >= 80 else ["#", "line", "job", "becomes"]
    limits = {"line": max(5, ink.width // 5), "job": max(10, ink.width // 5), "becomes": max(_WORDS, ink.width // 5)}
    figures = {"#", "line", "runs/day", "p95"} if ink.places.one_file else {"#", "runs/day", "p95"}
    table = [Column(title=name, width=_width(audit, ink, name, limits.get(name, 99)), right=name in figures) for name in names]
    table[0] = Column(title="#", width=max(3, table[0].width), right=True)
    while sum(c.width + 1 for c in table) > ink.width:
        widest = max(range(2, len(table)), key=lambda i: table[i].width)
        table[widest] = Column(title=table[widest].title, width=table[widest].width - 1)
    return table


def _room(audit: Audit, table: Sequence[Column], ink: Ink) -> int:
    """Columns for the reason beside its row; 0 when it stands below, because that is narrow or takes fewer lines."""
    left = ink.width - sum(column.width + 1 for column in table) - 1
    if left < _LEAST_ROOM:
        return 0
    reasons = [(ink.text(reason), often) for reason, often in Counter(each.because for each in audit.verdicts).items()]
    beside = sum(len(folded(reason, left)) * often for reason, often in reasons)
    below = sum((1 + len(folded(reason, ink.width - len(_BELOW)))) * often for reason, often in reasons)
    return left if beside <= below else 0


def _row(audit: Audit, verdict: Verdict, table: Sequence[Column], room: int, ink: Ink) -> list[Line]:
    head = " ".join(fitted(_CELLS[c.title](audit, verdict, ink), c.width, right=c.right, mark=ink.mark) for c in table)
    because = ink.text(verdict.because)
    if not room:
        return [Line(head.rstrip()), *(styled(line, "quiet") for line in hanging(because, ink.width, first=_BELOW))]
    rows = folded(because, room)
    below = " " * (columns(head) + 2)
    return [joined(head, "  ", rows[0]), *(Line(below + line) for line in rows[1:])]


def _signs(signs: Signs, ink: Ink) -> list[Line]:
    lines: list[Line] = []
    for name, sign in signs:
        known = "" if sign.answer == "unknown" else f" ({sign.confidence})"
        lead = f"       {_SIGN_WORDS[name]:<16}"
        rows = hanging(
            f"{sign.answer}{known}: {ink.text(sign.reason)}", ink.width, first=lead, rest=" " * min(len(lead), ink.width // 3)
        )
        lines += [Line(row) for row in rows]
        if sign.answer == "yes":
            lines[-len(rows)].stylize(STYLES["heading"], len(lead), len(lead) + 3)
    return lines
