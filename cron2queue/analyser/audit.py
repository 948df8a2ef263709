"""One look at crontabs and their evidence: all findings and verdicts, in the order in which a person wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date, datetime
    from zoneinfo import ZoneInfo

    from cron2queue.analyser.finding import EntryId, Finding, NotJudged
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.evidence.book import EvidenceBook


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One entry on the load's day: its starts, and how long a run takes where that is known (seconds)."""

    entry_id: EntryId
    name: str
    line: int
    starts: tuple[datetime, ...]
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Processes alive on the busiest of the days ahead; a run of unknown length counts for its first minute only.

    `alive` holds the peak of each column of `minutes` minutes. `planned_peak` is the peak when overlap is skipped, queued
    jobs are worked by one worker and starts are spread as proposed. `unknown` counts entries without a known duration.
    """

    day: date
    minutes: int
    alive: tuple[int, ...]
    peak_at: datetime
    peak: int
    planned_peak: int
    lanes: tuple[Lane, ...]
    unknown: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Two entries of which the second is timed to run after the first, with nothing but the clock between them.

    `broken_share` is the measured share of days on which the first was still running when the second started.
    """

    first: EntryId
    then: EntryId
    gap_seconds: int
    broken_share: float | None = None


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
