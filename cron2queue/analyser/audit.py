"""One look at crontabs and their evidence: all findings and verdicts, in the order in which a person wants them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from cron2queue.analyser.chains import Chain, chains_of
from cron2queue.analyser.comments import merged
from cron2queue.analyser.declarations import NOTHING_DECLARED, Declarations
from cron2queue.analyser.finding import EntryId, Finding, NotJudged, Severity
from cron2queue.analyser.load import Lane, Load, load_of
from cron2queue.analyser.questioning import Progress, question
from cron2queue.analyser.registry import chosen_rules
from cron2queue.analyser.rule import Subject
from cron2queue.analyser.suppression import Silence, listen
from cron2queue.analyser.timing import runs_per_day
from cron2queue.crontab.lines import CrontabFile, entry_ids
from cron2queue.record import Record

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cron2queue.analyser.host import HostFacts
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.evidence.book import EvidenceBook

__all__ = ["Audit", "Chain", "Lane", "Load", "Summary", "audit"]


class Summary(Record):
    """Counts of findings that stand, and of those that are suppressed by a comment or by the baseline."""

    error: int
    warning: int
    note: int
    suppressed: int
    baseline: int = 0
    starts_per_day: float = 0.0


class Audit(Record):
    """Everything that a report shows. Findings come worst first, verdicts in the order of migration."""

    at: datetime
    zone: ZoneInfo
    files: tuple[CrontabFile, ...]
    book: EvidenceBook
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]
    verdicts: tuple[Verdict, ...]
    load: Load | None
    chains: tuple[Chain, ...]
    summary: Summary


def audit(
    files: Sequence[CrontabFile],
    book: EvidenceBook,
    *,
    at: datetime,
    zone: ZoneInfo,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    baseline: Collection[str] = frozenset(),
    answers: Mapping[EntryId, Declarations] | None = None,
    host: HostFacts | None = None,
    progress: Progress = lambda done, total: None,
) -> Audit:
    """Ask all chosen rules, silence what is suppressed, fold what is low in value, and judge each entry.

    `select` and `ignore` hold codes, beginnings of codes or slugs; `baseline` fingerprints of findings that are known;
    `answers` what a person said on the terminal, by entry, over what the comments declare. `progress` is called with the
    entries judged so far, and with all.

    Raises:
        UsageError: a code that no rule has.
    """
    subject = _subject(files, book, at, zone, answers or {}, host)
    silence = Silence(said=subject.said, today=at.astimezone(zone).date(), baseline=frozenset(baseline))
    found, not_judged, verdicts = question(chosen_rules(select, ignore), subject, silence, progress)
    findings = _worst_first(found)
    judged = Audit(
        at=at,
        zone=zone,
        files=subject.files,
        book=book,
        findings=findings,
        not_judged=not_judged,
        verdicts=verdicts,
        load=load_of(subject, {verdict.entry_id: verdict for verdict in verdicts}),
        chains=chains_of(subject),
        summary=_summary(findings, subject),
    )
    chains_of.cache_clear()  # it holds the subject, whose ids nobody asks for any more
    return judged


def _subject(
    files: Sequence[CrontabFile],
    book: EvidenceBook,
    at: datetime,
    zone: ZoneInfo,
    answers: Mapping[EntryId, Declarations],
    host: HostFacts | None,
) -> Subject:
    ids = entry_ids(files)
    said = listen(files, ids)
    declarations = dict(said.declarations)
    for entry_id, answer in answers.items():
        declarations[entry_id] = merged(declarations.get(entry_id, NOTHING_DECLARED), answer)
    return Subject(files=tuple(files), book=book, at=at, zone=zone, ids=ids, declarations=declarations, host=host, said=said)


def _worst_first(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """By severity, code and place; sorted rule by rule, since the keys of a whole fleet would take much memory."""
    rules: dict[tuple[int, str], list[Finding]] = {}
    for finding in found:
        rules.setdefault((finding.severity.rank, finding.code), []).append(finding)
    for of_rule in rules.values():
        of_rule.sort(key=lambda finding: (finding.place.path, finding.place.line or 0))
    return tuple(chain.from_iterable(rules[key] for key in sorted(rules)))


def _summary(findings: Sequence[Finding], subject: Subject) -> Summary:
    standing = Counter(each.severity for each in findings if each.suppressed is None)
    silenced = [each.suppressed for each in findings if each.suppressed is not None]
    return Summary(
        error=standing[Severity.ERROR],
        warning=standing[Severity.WARNING],
        note=standing[Severity.NOTE],
        suppressed=len(silenced),
        baseline=sum(each.baseline for each in silenced),
        starts_per_day=sum(runs_per_day(entry) for file, entry in subject.entries if file.loaded),
    )
