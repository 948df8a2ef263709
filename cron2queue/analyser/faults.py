"""Which findings say that an entry does not do its work, or hardly what was meant: it is repaired before anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cron2queue.analyser.finding import Confidence, Severity

if TYPE_CHECKING:
    from cron2queue.analyser.finding import Finding

_MISTAKEN_RULES = "every-minute-of-an-hour uneven-step junk-in-field reversed-range user-column unfilled-placeholder"
_MISTAKEN = frozenset(_MISTAKEN_RULES.split())


def is_broken(finding: Finding) -> bool:
    """It keeps the entry from doing its work today, by the daemon's own rules."""
    return finding.severity is Severity.ERROR and finding.confidence is Confidence.PROVEN


def is_mistaken(finding: Finding) -> bool:
    """The line hardly says what was meant."""
    return finding.severity is not Severity.NOTE and finding.rule in _MISTAKEN
