"""One look at crontabs and their evidence: all findings and verdicts, in the order in which a person wants them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cron2queue.analyser.chains import Chain, chains_of
from cron2queue.analyser.comments import merged
from cron2queue.analyser.declarations import NOTHING_DECLARED, Declarations
from cron2queue.analyser.finding import EntryId, Finding, NotJudged, Place, Severity
from cron2queue.analyser.judging import by_entry, verdicts_of
from cron2queue.analyser.load import Lane, Load, load_of
from cron2queue.analyser.registry import chosen_rules
from cron2queue.analyser.rule import ReviewContext, Rule, Subject
from cron2queue.analyser.suppression import listen, suppressed
from cron2queue.analyser.timing import runs_per_day
from cron2queue.crontab.lines import CrontabFile, entry_ids

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cron2queue.analyser.host import HostFacts
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.evidence.book import EvidenceBook

__all__ = ["Audit", "Chain", "Lane", "Load", "Summary", "audit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts of findings that stand, and of those that are suppressed by a comment or by the baseline."""

    error: int
    warning: int
    note: int
    suppressed: int
    baseline: int = 0
    starts_per_day: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
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
) -> Audit:
    """Ask all chosen rules, silence what is suppressed, fold what is low in value, and judge each entry.

    `select` and `ignore` hold codes, beginnings of codes or slugs; `baseline` fingerprints of findings that are known;
    `answers` what a person said on the terminal, by entry, over what the comments declare.

    Raises:
        UsageError: a code that no rule has.
    """
    ids = entry_ids(files)
    said = listen(files, ids)
    declarations = dict(said.declarations)
    for entry_id, answer in (answers or {}).items():
        declarations[entry_id] = merged(declarations.get(entry_id, NOTHING_DECLARED), answer)
    subject = Subject(files=tuple(files), book=book, at=at, zone=zone, ids=ids, declarations=declarations, host=host, said=said)
    rules = chosen_rules(select, ignore)
    found, not_judged = _ask(rules, subject)
    today = at.astimezone(zone).date()
    marked, used = suppressed(found, said, today=today, baseline=baseline)
    context = ReviewContext(used_ignores=used, asked=frozenset(rule.code for rule in rules))
    reviewed, _ = suppressed(
        (each for rule in rules for each in rule.review(subject, context)), said, today=today, baseline=baseline
    )
    marked += reviewed
    verdicts = verdicts_of(subject, marked)
    findings = tuple(sorted(_folded(rules, marked), key=_worst_first))
    return Audit(
        at=at,
        zone=zone,
        files=subject.files,
        book=book,
        findings=findings,
        not_judged=tuple(not_judged),
        verdicts=verdicts,
        load=load_of(subject, by_entry(verdicts)),
        chains=chains_of(subject),
        summary=_summary(findings, subject),
    )


def _ask(rules: Iterable[Rule], subject: Subject) -> tuple[list[Finding], list[NotJudged]]:
    found: list[Finding] = []
    not_judged: list[NotJudged] = []
    for rule in rules:
        for answer in rule.check(subject):
            if isinstance(answer, Finding):
                found.append(answer)
            else:
                not_judged.append(answer)
    return found, not_judged


def _folded(rules: Iterable[Rule], findings: Iterable[Finding]) -> list[Finding]:
    """One finding in place of several of one rule in one file, where the rule says so; silenced ones stay as they are."""
    folding = {rule.code: rule for rule in rules}
    groups: dict[tuple[str, str, Severity], list[Finding]] = {}
    result: list[Finding] = []
    for finding in findings:
        if finding.suppressed is None:
            groups.setdefault((finding.code, finding.place.path, finding.severity), []).append(finding)
        else:
            result.append(finding)
    for (code, _, _), group in groups.items():
        words = folding[code].fold(group) if len(group) > 1 else None
        result.extend(group if words is None else [_one(group, *words)])
    return result


def _one(group: list[Finding], message: str, remedy: str) -> Finding:
    first = group[0]
    return replace(
        first,
        message=message,
        remedy=remedy,
        place=Place(path=first.place.path, line=first.place.line),
        related=tuple(each.place for each in group[1:]),
        folds=tuple(each.fingerprint for each in group),
        entry=None,
        source_line=None,
        detail="folded",
    )


def _worst_first(finding: Finding) -> tuple[int, str, str, int]:
    return finding.severity.rank, finding.code, finding.place.path, finding.place.line or 0


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
