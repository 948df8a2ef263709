"""What the HTML page says: every text redacted and safe, every figure ready to be shown. The template only loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cron2queue import __version__
from cron2queue.crontab.describe import describe
from cron2queue.durations import duration
from cron2queue.record import Record
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
    remarks,
    runs_per_day,
    share,
    source_name,
    standing,
    starts,
)
from cron2queue.report.page.timelines import Day, Week, day_of, week_of
from cron2queue.report.shown import marked, shown

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.evidence.book import EvidenceBook
    from cron2queue.report.reporter import RenderOptions

_AT_ONCE = 4  # findings of one kind that are shown without a click


class SourceRow(Record):
    """One crontab file and its lines by kind; `counts` add up to the first of them."""

    path: str
    dialect: str
    kind: str
    ignored: str | None
    counts: tuple[int, ...]
    notes: tuple[str, ...]


class Item(Record):
    """One finding, or several that say the same; `source` is the line before, at and after the marked place."""

    where: str
    message: str
    confidence: str
    evidence: str
    source: tuple[str, str, str] | None
    line: int | None


class Card(Record):
    """Findings of one rule with one remedy; `more` are those that wait behind a click."""

    severity: str
    code: str
    rule: str
    remedy: str
    items: tuple[Item, ...]
    more: tuple[Item, ...]


class JobRow(Record):
    """One entry in the order of migration."""

    order: str
    where: str
    name: str
    schedule: str
    description: str
    command: str
    user: str
    decision: str
    becomes: str
    overlap: str
    runs: str
    p95: str
    measured: str
    because: str
    signs: tuple[tuple[str, str, str, str], ...]
    questions: tuple[str, ...]


class Page(Record):
    """Everything that audit.html.j2 shows. `style` is our own style sheet, `policy` its hash for the page's own CSP."""

    style: str
    policy: str
    version: str
    title: str
    facts: tuple[str, ...]
    failed: str
    passed: str
    error: int
    warning: int
    note: int
    suppressed: int
    starts: tuple[str, str]
    decisions: tuple[tuple[int, str], ...]
    entries: int
    sources: tuple[SourceRow, ...]
    unreadable: tuple[str, ...]
    cards: tuple[Card, ...]
    silenced: tuple[tuple[str, str, str, str], ...]
    not_judged: tuple[tuple[str, str], ...]
    evidence: str
    skipped: tuple[str, ...]
    day: Day | None
    week: Week | None
    chains: tuple[tuple[str, str, str, str], ...]
    jobs: tuple[JobRow, ...]
    next_command: str


def page_of(audit: Audit, options: RenderOptions, *, style: str, policy: str) -> Page:
    """The page of an audit."""
    places = Places(audit)
    summary = audit.summary
    return Page(
        style=style,
        policy=policy,
        version=__version__,
        title=", ".join(shown(source_name(file.path)) for file in audit.files[:3])
        + (" and more" if len(audit.files) > 3 else "")
        or "no crontab",
        facts=_facts(audit),
        failed=_failed(audit, options),
        passed="" if options.fail_on == "never" else f"nothing at or above {options.fail_on}",
        error=summary.error,
        warning=summary.warning,
        note=summary.note,
        suppressed=summary.suppressed,
        starts=_starts(summary.starts_per_day),
        decisions=tuple(decisions(audit)),
        entries=len(audit.verdicts),
        sources=tuple(_source(file) for file in audit.files),
        unreadable=tuple(shown(reason) for reason in options.unreadable),
        cards=tuple(_card(kin, places) for kin in alike(grouped(standing(audit)))),
        silenced=tuple(_silenced(finding, places) for finding in audit.findings if finding.suppressed is not None),
        not_judged=tuple(dict.fromkeys((each.code, shown(each.reason)) for each in audit.not_judged)),
        evidence=_evidence(audit.book),
        skipped=tuple(shown(part) for part in audit.book.skipped),
        day=day_of(audit.load),
        week=week_of(audit),
        chains=_chains(audit, places),
        jobs=tuple(_job(audit, verdict, places) for verdict in audit.verdicts),
        next_command=shown(options.next_command),
    )


def _starts(runs: float) -> tuple[str, str]:
    words, unit = starts(runs)
    number, _, what = words.partition(" ")
    return number, f"{what} a {unit}"


def _facts(audit: Audit) -> tuple[str, ...]:
    dialects = " and ".join(dict.fromkeys(file.dialect for file in audit.files))
    zone = shown(str(audit.zone))
    known = (counted(sum(len(f.entries) for f in audit.files), "entry"), dialects, zone, f"as of {audit.at:%Y-%m-%d %H:%M}")
    return tuple(fact for fact in known if fact)


def _failed(audit: Audit, options: RenderOptions) -> str:
    failed = failing(audit, options.fail_on)
    unread = [f"{counted(len(options.unreadable), 'source')} not read"] if options.unreadable else []
    return ", ".join([*([f"{counted(failed, 'finding')} at or above {options.fail_on}"] if failed else []), *unread])


def _source(file: CrontabFile) -> SourceRow:
    return SourceRow(
        path=shown(file.path),
        dialect=file.dialect,
        kind=str(file.kind),
        ignored=None if (why := ignored(file)) is None else shown(why),
        counts=tuple(file.counts.values()),
        notes=tuple(shown(note) for note in remarks(file)),
    )


def _card(kin: list[list[Finding]], places: Places) -> Card:
    first = kin[0][0]
    items = tuple(_item(group, places) for group in kin)
    few = len(items) if len(items) <= _AT_ONCE else _AT_ONCE - 1
    return Card(
        severity=str(first.severity),
        code=first.code,
        rule=first.rule.replace("-", " "),
        remedy=shown(first.remedy),
        items=items[:few],
        more=items[few:],
    )


def _item(group: list[Finding], places: Places) -> Item:
    first = group[0]
    place = first.place
    has_source = len(group) == 1 and first.source_line is not None and (place.column is not None or first.severity == "error")
    return Item(
        where=places.of_many(all_places(group), shown),
        message=shown(first.message),
        confidence=str(first.confidence),
        evidence=shown(first.evidence),
        source=marked(first.source_line or "", place.column, place.end_column) if has_source else None,
        line=place.line,
    )


def _silenced(finding: Finding, places: Places) -> tuple[str, str, str, str]:
    suppression = finding.suppressed
    reason = "" if suppression is None else shown(suppression.reason)
    until = "" if suppression is None or suppression.until is None else f" until {suppression.until.isoformat()}"
    return finding.code, places.of(finding.place.path, finding.place.line, shown), shown(finding.message), reason + until


def _evidence(book: EvidenceBook) -> str:
    if not book.available:
        how = shown(book.how_to_get_evidence)
        return f"None: durations, overlaps and empty runs are unknown, and none is invented. {how[:1].upper()}{how[1:]}"
    window = f", {book.window.start:%Y-%m-%d} to {book.window.end:%Y-%m-%d}" if book.window else ""
    sources = ", ".join(shown(source) for source in book.sources)
    return f"{sources}{window}: {book.runs:,} runs, {book.matched:,} of known entries, {book.unmatched:,} of others."


def _chains(audit: Audit, places: Places) -> tuple[tuple[str, str, str, str], ...]:
    by_id = {verdict.entry_id: verdict for verdict in audit.verdicts}
    return tuple(
        (
            _called(by_id[chain.first], places),
            _called(by_id[chain.then], places),
            duration(chain.gap_seconds),
            "not measured" if chain.broken_share is None else f"{share(chain.broken_share)} of days",
        )
        for chain in audit.chains
        if chain.first in by_id and chain.then in by_id
    )


def _called(verdict: Verdict, places: Places) -> str:
    return f"{places.of(verdict.path, verdict.entry.number, shown)} {shown(verdict.name)}"


def _job(audit: Audit, verdict: Verdict, places: Places) -> JobRow:
    entry = verdict.entry
    evidence = evidence_of(audit, verdict)
    measured = ""
    if evidence is not None:
        confidence = f", {evidence.pairing}" if evidence.pairing else ""
        measured = shown(f"{evidence.starts:,} starts, {evidence.n:,} with a known duration{confidence}, {evidence.source}")
    return JobRow(
        order="" if verdict.order is None else str(verdict.order),
        where=places.of(verdict.path, entry.number, shown),
        name=shown(verdict.name),
        schedule=shown(entry.schedule_text),
        description=shown(describe(entry.schedule)),
        command=shown(entry.command),
        user=shown(entry.user or ""),
        decision=str(verdict.decision),
        becomes=shown(verdict.becomes),
        overlap=shown(verdict.overlap),
        runs=per_day(runs_per_day(verdict)),
        p95=duration(evidence.p95_seconds, resolution=evidence.resolution) if evidence else "-",
        measured=measured,
        because=shown(verdict.because),
        signs=tuple(
            (
                name.replace("_", " "),
                str(sign.answer),
                "" if sign.answer == "unknown" else str(sign.confidence),
                shown(sign.reason),
            )
            for name, sign in verdict.signs
        ),
        questions=tuple(shown(question) for question in verdict.questions),
    )
