"""A rule that judges what was measured of an entry, and says so where nothing was."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from cron2queue.analyser.finding import Confidence, Finding, NotJudged
from cron2queue.analyser.rule import Rule, Subject
from cron2queue.analyser.timing import window_words

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile, Entry
    from cron2queue.evidence.statistics import Evidence


class MeasuredRule(Rule):
    """Looks at each entry of which there is evidence; `wanted` names, for NotJudged, what it needs to know."""

    confidence: ClassVar[Confidence] = Confidence.MEASURED
    wanted: ClassVar[str]

    @abstractmethod
    def weigh(self, subject: Subject, file: CrontabFile, entry: Entry, evidence: Evidence) -> Iterator[Finding]:
        """The answers for one entry's evidence."""

    @abstractmethod
    def knows(self, evidence: Evidence) -> bool:
        """Whether the evidence holds what the rule needs."""

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Every entry with evidence; one NotJudged for all others."""
        unknown = 0
        for file, entry in subject.entries:
            evidence = subject.evidence(file, entry)
            if evidence is None or not self.knows(evidence):
                unknown += 1
            else:
                yield from self.weigh(subject, file, entry, evidence)
        if unknown:
            where = "no log was read" if not subject.book.available else f"of {unknown:,} of {len(subject.entries):,} entries"
            yield NotJudged(code=self.code, reason=f"{self.wanted} not known: {where}")


def source_words(evidence: Evidence, n: int) -> str:
    """`4,032 runs, 14 d, journal, pairing good`: what a figure rests on."""
    pairing = f", pairing {evidence.pairing}" if evidence.pairing else ""
    shared = f", shared with {len(evidence.shares_with)} like it" if evidence.shares_with else ""
    return f"{n:,} runs, {window_words(evidence.window.days)}, {evidence.source}{pairing}{shared}"
