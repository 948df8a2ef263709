"""markdown: for a pull request, a ticket or a wiki; foreign text stands in code spans or is escaped, and links to nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from cron2queue.durations import duration
from cron2queue.expressions import regex
from cron2queue.report.figures import (
    Places,
    alike,
    all_places,
    counted,
    decisions,
    evidence_of,
    failing,
    grouped,
    ignored,
    per_day,
    runs_per_day,
    share,
    source_name,
    split_kin,
    standing,
    starts,
)
from cron2queue.report.reporter import RenderOptions, Reporter
from cron2queue.report.shown import shown

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding
    from cron2queue.analyser.verdicts import Verdict

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "|": "&#124;", "=": "&#61;", "`": "&#96;"})
_SPECIAL = regex(r"([\\*_{}\[\]()#+!~$-])")
_LINK = regex(r"(?i)(\bwww)([.])|()(:)(?=//)")
_KIN = 3  # so many findings of one rule and remedy get a row each


class MarkdownReporter(Reporter):
    """The report's order, as headings and tables that GitHub, GitLab and others draw alike."""

    name: ClassVar[str] = "markdown"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """CommonMark with tables."""
        places = Places(audit)
        blocks = [
            [f"# cron2queue audit of {' and '.join(code(source_name(file.path)) for file in audit.files) or 'nothing'}"],
            _summary(audit),
            _sources(audit),
            _findings(audit, places, verbose=options.verbose),
            _evidence(audit),
            _load(audit),
            _chains(audit, places),
            _order(audit, places, why=options.why),
            _result(audit, options),
        ]
        yield "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def prose(text: str) -> str:
    """Foreign prose as plain words: no markup, no link, no mention, no formula."""
    escaped = _SPECIAL.sub(r"\\\1", shown(text)).translate(_ENTITIES)
    return _LINK.sub(lambda m: f"{m[1] or ''}&#{ord(m[2] or m[4])};", escaped)


def code(text: str) -> str:
    """Foreign text as a code span whose fence no backtick in it can close; for table cells too."""
    safe = shown(text).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", safe)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest or safe[:1] == " " or not safe else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    head = f"| {' | '.join(title.lstrip('>') for title in titles)} |"
    rule = f"|{'|'.join(' ---: ' if title.startswith('>') else ' --- ' for title in titles)}|"
    return [head, rule, *(f"| {' | '.join(row)} |" for row in rows)]


def _summary(audit: Audit) -> list[str]:
    s = audit.summary
    hidden = f", {s.suppressed} suppressed" if s.suppressed else ""
    peak = f", peak {audit.load.peak} alive" if audit.load else ""
    known = (
        f"**{counted(s.error, 'error')}, {counted(s.warning, 'warning')}, {counted(s.note, 'note')}**{hidden}. "
        f"{' a '.join(starts(s.starts_per_day))}{peak}. Zone {prose(str(audit.zone))}, as of {audit.at:%Y-%m-%d %H:%M}."
    )
    decided = ", ".join(f"{number} {words}" for number, words in decisions(audit))
    return [known, "", f"{counted(len(audit.verdicts), 'entry')}: {decided}."] if decided else [known]


def _sources(audit: Audit) -> list[str]:
    if not audit.files:
        return []
    rows = []
    for file in audit.files:
        why = ignored(file)
        state = "yes" if file.loaded else "no: a template, to be rendered first" if why is None else f"no: {prose(why)}"
        rows.append([code(file.path), file.dialect, str(file.kind), state, *(str(number) for number in file.counts.values())])
    titles = (
        "file",
        "dialect",
        "kind",
        "read by cron",
        ">lines",
        ">entries",
        ">assignments",
        ">comments",
        ">blank",
        ">malformed",
    )
    return _table(titles, rows)


def _findings(audit: Audit, places: Places, *, verbose: bool) -> list[str]:
    found = standing(audit)
    unjudged = [f"Not judged: {each.code}: {prose(each.reason)}  " for each in audit.not_judged]
    lines = ["## Findings", ""] if found or unjudged else []
    if found:
        lines += _table(("", "code", "where", "what", "known", "remedy"), _rows(found, places, len(found) if verbose else _KIN))
    return [*lines, *([""] if found and unjudged else []), *unjudged]


def _rows(found: list[Finding], places: Places, most: int) -> Iterator[list[str]]:
    for kin in alike(grouped(found)):
        each, rest = split_kin(kin, most)
        yield from (_finding(group, places) for group in each)
        if rest:
            where = places.of_many(all_places(rest), prose)
            yield [f"**{rest[0].severity}**", rest[0].code, where, f"{len(rest)} more of this kind", "", prose(rest[0].remedy)]


def _finding(group: list[Finding], places: Places) -> list[str]:
    finding = group[0]
    what = prose(finding.message)
    if finding.source_line is not None and finding.place.column is not None:
        what += f"<br>{code(finding.source_line)}"
    known = f"{finding.confidence}: {prose(finding.evidence)}" if finding.evidence else str(finding.confidence)
    where = places.of_many(all_places(group), prose)
    return [f"**{finding.severity}**", finding.code, where, what, known, prose(finding.remedy)]


def _evidence(audit: Audit) -> list[str]:
    book = audit.book
    if not book.available:
        return ["## Evidence", "", f"None: durations, overlaps and empty runs are unknown. {prose(book.how_to_get_evidence)}"]
    window = f", {book.window.start:%Y-%m-%d} to {book.window.end:%Y-%m-%d}" if book.window else ""
    sources = ", ".join(code(source) for source in book.sources)
    lines = [
        "## Evidence",
        "",
        f"{sources}{window}: {book.runs:,} runs, {book.matched:,} of known entries, {book.unmatched:,} others.",
    ]
    return [*lines, *(f"Not used: {prose(part)}  " for part in book.skipped)]


def _load(audit: Audit) -> list[str]:
    load = audit.load
    if load is None or not load.peak:
        return []
    per_hour = [max(load.alive[h * len(load.alive) // 24 : (h + 1) * len(load.alive) // 24]) for h in range(24)]
    rows = [["alive", *(str(value) for value in per_hour)]]
    words = (
        f"Most alive at once: {load.peak} at {load.peak_at:%H:%M} on {load.day.isoformat()}; as planned {load.planned_peak}."
    )
    return ["## Load", "", words, "", *_table(["hour", *(f">{hour:02d}" for hour in range(24))], rows)]


def _chains(audit: Audit, places: Places) -> list[str]:
    by_id = {verdict.entry_id: verdict for verdict in audit.verdicts}
    lines = []
    for chain in audit.chains:
        if chain.first in by_id and chain.then in by_id:
            first, then = (f"{_where(by_id[each], places)} {code(by_id[each].name)}" for each in (chain.first, chain.then))
            broken = "" if chain.broken_share is None else f", first still running on {share(chain.broken_share)} of days"
            lines.append(f"- {first}, then {then}: {duration(chain.gap_seconds)} apart{broken}")
    return ["## Chains that hang on the clock", "", *lines] if lines else []


def _where(verdict: Verdict, places: Places) -> str:
    return places.of(verdict.path, verdict.entry.number, prose)


def _order(audit: Audit, places: Places, *, why: bool) -> list[str]:
    if not audit.verdicts:
        return []
    rows = [_row(audit, verdict, places) for verdict in audit.verdicts]
    titles = (">#", "where", "job", "decision", ">runs/day", ">p95", "becomes", "overlap", "because")
    return ["## Migration order", "", *_table(titles, rows), *(_signs(audit, places) if why else [])]


def _row(audit: Audit, verdict: Verdict, places: Places) -> list[str]:
    evidence = evidence_of(audit, verdict)
    because = "<br>".join([prose(verdict.because), *(f"*{prose(question.strip())}*" for question in verdict.questions)])
    return [
        "" if verdict.order is None else str(verdict.order),
        _where(verdict, places),
        code(verdict.name),
        str(verdict.decision),
        per_day(runs_per_day(verdict)),
        duration(evidence.p95_seconds, resolution=evidence.resolution).replace("<", "&lt;") if evidence else "",
        prose(verdict.becomes),
        verdict.overlap,
        because,
    ]


def _signs(audit: Audit, places: Places) -> list[str]:
    lines = ["", "### Signs", ""]
    for verdict in audit.verdicts:
        lines.append(f"- {_where(verdict, places)} {code(verdict.name)}")
        lines += [
            f"  - {name.replace('_', ' ')}: {sign.answer} ({sign.confidence}): {prose(sign.reason)}"
            for name, sign in verdict.signs
        ]
    return lines


def _result(audit: Audit, options: RenderOptions) -> list[str]:
    failed = failing(audit, options.fail_on)
    lines = [f"Not read: {prose(reason)}  " for reason in options.unreadable]
    calm = "**INCOMPLETE**" if options.unreadable else "**OK**"
    verdict = f"**FAIL**: {counted(failed, 'finding')} at or above" if failed else f"{calm}: nothing at or above"
    return [*lines, f"{verdict} `{options.fail_on}`."]
