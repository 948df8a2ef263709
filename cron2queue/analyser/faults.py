"""Which findings say that an entry does not do its work, or hardly what was meant: it is corrected before anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cron2queue.analyser.finding import Confidence, Severity
from cron2queue.analyser.rule import EntryRule, stands_in_crontab

if TYPE_CHECKING:
    from cron2queue.analyser.finding import Finding
    from cron2queue.analyser.rule import Subject
    from cron2queue.crontab.lines import CrontabFile, Entry

_MISTAKEN = frozenset({"every-minute-of-an-hour", "uneven-step", "junk-in-field", "reversed-range", "user-column"})


def is_broken(finding: Finding) -> bool:
    """It keeps the entry from doing its work today, by the daemon's own rules."""
    return finding.severity is Severity.ERROR and finding.confidence is Confidence.PROVEN


def is_mistaken(finding: Finding) -> bool:
    """The line hardly says what was meant."""
    return finding.severity is not Severity.NOTE and finding.rule in _MISTAKEN


def is_faulty(subject: Subject, file: CrontabFile, entry: Entry) -> bool:
    """One of the rules for single entries finds it broken or mistaken, or it is no entry yet."""
    from cron2queue.analyser.registry import all_rules

    if not stands_in_crontab(file, entry):
        return True
    able = (rule for rule in all_rules() if isinstance(rule, EntryRule) and file.dialect in rule.dialects)
    telling = (rule for rule in able if rule.severity is Severity.ERROR or rule.slug() in _MISTAKEN)
    return any(is_broken(found) or is_mistaken(found) for rule in telling for found in rule.look(subject, file, entry))
