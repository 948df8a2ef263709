"""How often entries start and how long their runs take: what rules and verdicts both need to know."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from cron2queue.analyser.finding import Confidence
from cron2queue.crontab.schedule import Calendar, Schedule
from cron2queue.durations import duration
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.analyser.rule import Subject
    from cron2queue.crontab.lines import CrontabFile, Entry
    from cron2queue.evidence.statistics import Evidence

MINUTE, HOUR, DAY = 60, 3600, 86400
RARE = 6 * HOUR


class Duration(Record):
    """How long a run takes, in seconds: `typical` and `long` (95 of 100 runs are shorter), and how that is known."""

    typical: float
    long: float
    confidence: Confidence
    source: str
    resolution: float = 1.0

    @property
    def words(self) -> str:
        """The long one, no more exact than it is known."""
        return duration(self.long, resolution=self.resolution)


def shortest_gap(entry: Entry) -> float | None:
    """Seconds between the two closest starts, or None for @reboot and for what starts at most once."""
    return _gap(entry.schedule)


def is_rare(entry: Entry) -> bool:
    """Starts that are far apart: at least six hours, or no second start at all."""
    gap = shortest_gap(entry)
    return gap is None or gap >= RARE


@lru_cache(maxsize=16384)
def is_dead(schedule: Schedule) -> bool:
    """It never fires; the answer is kept, since many rules ask."""
    return schedule.never_fires


@lru_cache(maxsize=16384)
def _gap(schedule: Schedule) -> float | None:
    gap = schedule.shortest_gap
    return None if gap is None else gap.total_seconds()


@lru_cache(maxsize=16384)
def _runs_per_day(schedule: Schedule) -> float:
    return schedule.runs_per_day


def runs_per_day(entry: Entry) -> float:
    """Mean starts a day."""
    return _runs_per_day(entry.schedule)


def known_duration(subject: Subject, file: CrontabFile, entry: Entry) -> Duration | None:
    """From the logs, else as declared; None when nobody knows. Nothing is ever guessed."""
    evidence = subject.evidence(file, entry)
    if evidence is not None and evidence.p95_seconds is not None and evidence.median_seconds is not None:
        said = f"{evidence.n:,} runs, {window_words(evidence.window.days)}, {evidence.source}"
        return Duration(
            typical=evidence.median_seconds,
            long=evidence.p95_seconds,
            confidence=Confidence.MEASURED,
            source=said,
            resolution=evidence.resolution,
        )
    takes = subject.declared(file, entry).takes
    if takes is None:
        return None
    return Duration(typical=takes, long=takes, confidence=Confidence.DECLARED, source=f"declared: takes={duration(takes)}")


def met_itself(evidence: Evidence | None) -> float | None:
    """The share of starts that met a live run of the same entry; None where entries cannot be told apart in the log."""
    return None if evidence is None or evidence.shares_with else evidence.met_predecessor


def window_words(days: float) -> str:
    """`14 d`, `6 h`: the length of what was looked at."""
    return f"{days:.0f} d" if days >= 2 else f"{days * 24:.0f} h"


def calendar_of(entry: Entry) -> Calendar | None:
    """The entry's calendar, None for @reboot and intervals."""
    return entry.schedule if isinstance(entry.schedule, Calendar) else None
