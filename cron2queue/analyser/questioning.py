"""Asks all rules: first those that look at the whole, then, entry by entry, those that look at one, and judges it at once.

Entries with equal commands come together: everything that is read from one command line is then read while it is at hand,
which is what makes a fleet affordable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from cron2queue.analyser.faults import is_broken
from cron2queue.analyser.finding import EntryId, Finding, NotJudged
from cron2queue.analyser.folding import folded
from cron2queue.analyser.judging import Ranking, verdict_of
from cron2queue.analyser.naming import Names
from cron2queue.analyser.registry import all_rules
from cron2queue.analyser.rule import EntryRule, ReviewContext, Rule, ScheduleRule, Subject, stands_in_crontab
from cron2queue.analyser.verdicts import Decision

if TYPE_CHECKING:
    from cron2queue.analyser.suppression import Silence
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import CrontabFile, Entry
    from cron2queue.crontab.schedule import Schedule

Progress = Callable[[int, int], None]
NO_CRONTAB = "no-crontab"
_MOST_SCHEDULES = 20_000
Answers = tuple[tuple[Finding, ...], tuple[NotJudged, ...], tuple["Verdict", ...]]


def question(chosen: Collection[Rule], subject: Subject, silence: Silence, progress: Progress) -> Answers:
    """The chosen rules' findings (silenced ones marked), what they could not judge, and the verdicts in order.

    All rules are asked, since what is not to be shown still decides what becomes of an entry.
    """
    rules, shown = all_rules(), frozenset(rule.code for rule in chosen)
    whole = [rule for rule in rules if not isinstance(rule, EntryRule)]
    findings, not_judged = _sorted_out((answer for rule in whole for answer in rule.check(subject)), silence)
    entry_rules = [rule for rule in rules if isinstance(rule, EntryRule)]
    verdicts, faulty = _entry_by_entry(entry_rules, subject, silence, findings, progress)
    more, unjudged = _sorted_out((answer for rule in whole for answer in rule.look_again(subject, faulty)), silence)
    findings, not_judged = _told_once(findings + more), not_judged + unjudged
    context = ReviewContext(used_ignores=frozenset(silence.used), asked=shown)
    for rule in rules:
        findings.extend(silence.mark(finding) for finding in rule.review(subject, context))
    return (
        tuple(finding for finding in findings if finding.code in shown),
        tuple(each for each in not_judged if each.code in shown),
        verdicts,
    )


def _sorted_out(answers: Iterable[Finding | NotJudged], silence: Silence) -> tuple[list[Finding], list[NotJudged]]:
    findings: list[Finding] = []
    not_judged: list[NotJudged] = []
    for answer in answers:
        if isinstance(answer, Finding):
            findings.append(silence.mark(answer))
        else:
            not_judged.append(answer)
    return findings, not_judged


def _told_once(findings: list[Finding]) -> list[Finding]:
    """Of a file that is no crontab that alone is said, and not what is wrong with each of its lines."""
    foreign = {finding.place.path for finding in findings if finding.rule == NO_CRONTAB}
    if not foreign:
        return findings
    return [each for each in findings if each.rule == NO_CRONTAB or each.place.line is None or each.place.path not in foreign]


def _standing(findings: Iterable[Finding]) -> dict[EntryId, list[Finding]]:
    at_entry: dict[EntryId, list[Finding]] = {}
    for finding in findings:
        if finding.entry is not None and finding.suppressed is None:
            at_entry.setdefault(finding.entry, []).append(finding)
    return at_entry


def _entry_by_entry(
    rules: Sequence[EntryRule], subject: Subject, silence: Silence, findings: list[Finding], progress: Progress
) -> tuple[tuple[Verdict, ...], frozenset[EntryId]]:
    """The verdicts in order, and the entries that are to be repaired or switched off."""
    look = _Look(rules, subject, silence, _standing(findings))
    for done, at in enumerate(subject.readings.order):
        progress(done, len(subject.entries))
        look.judge(at)
    subject.forget_readings()
    by_code, ranking, faulty = {rule.code: rule for rule in rules}, Ranking(), set[EntryId]()
    for _, places in groupby(range(len(subject.entries)), key=lambda at: id(subject.entries[at][0])):
        of_file: list[Finding] = []
        for at in places:
            found, verdict, broken = look.taken(at)
            of_file += found
            ranking.add(subject, subject.entries[at][0], verdict, broken=broken)
            if broken or verdict.decision in (Decision.FIX, Decision.DROP):
                faulty.add(verdict.entry_id)
        findings += folded(by_code, of_file)
    return ranking.ordered(), frozenset(faulty)


class _Look:
    """Looks at single entries, in any order; what comes of it is kept by the entry's place."""

    def __init__(
        self, rules: Sequence[EntryRule], subject: Subject, silence: Silence, before: dict[EntryId, list[Finding]]
    ) -> None:
        self._subject, self._silence, self._before = subject, silence, before
        self._rules = {file.dialect: [rule for rule in rules if file.dialect in rule.dialects] for file in subject.files}
        self._speaking: dict[tuple[str, str, Schedule], list[EntryRule]] = {}
        self._shared: dict[tuple[EntryRule, ...], list[EntryRule]] = {}
        self._names = _unique_names(subject)
        self._found: list[tuple[Finding, ...]] = [()] * len(subject.entries)
        self._verdicts: list[Verdict | None] = [None] * len(subject.entries)
        self._broken = bytearray(len(subject.entries))

    def judge(self, at: int) -> None:
        """Ask all rules of the entry at this place, and judge it by all that is found there."""
        subject, mark = self._subject, self._silence.mark
        file, entry = subject.entries[at]
        asked = self._asked_of(file, entry) if stands_in_crontab(file, entry) else ()
        new = [mark(found) for rule in asked for found in rule.look(subject, file, entry)]
        if asked is self._rules[file.dialect]:
            self._remember(file, entry, {found.code for found in new})
        standing = [*self._before.pop(subject.id_of(file, entry), ()), *(found for found in new if found.suppressed is None)]
        self._verdicts[at] = verdict_of(subject, file, entry, self._names[at], standing)
        self._found[at] = tuple(new)
        self._broken[at] = any(map(is_broken, standing))

    def _asked_of(self, file: CrontabFile, entry: Entry) -> Sequence[EntryRule]:
        """The rules that may have something to say: those of schedules only where they spoke of the same one before."""
        known = self._speaking.get((file.dialect, entry.schedule_text, entry.schedule))
        return self._rules[file.dialect] if known is None else known

    def _remember(self, file: CrontabFile, entry: Entry, spoke: Collection[str]) -> None:
        if len(self._speaking) < _MOST_SCHEDULES:
            rules = [rule for rule in self._rules[file.dialect] if not isinstance(rule, ScheduleRule) or rule.code in spoke]
            self._speaking[file.dialect, entry.schedule_text, entry.schedule] = self._shared.setdefault(tuple(rules), rules)

    def taken(self, at: int) -> tuple[tuple[Finding, ...], Verdict, bool]:
        """What was found of it, how it was judged, and whether it does not do its work today; nothing of it stays here."""
        found, verdict = self._found[at], self._verdicts[at]
        assert verdict is not None
        self._found[at], self._verdicts[at] = (), None
        return found, verdict, bool(self._broken[at])


def _unique_names(subject: Subject) -> list[str]:
    """For each entry the name of its job: what a person said, else what its command tells."""
    names = Names()
    told = zip(subject.entries, subject.readings.names, strict=True)
    return [names.unique(subject.declared(file, entry).name or name) for (file, entry), name in told]
