"""C2Q408."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Finding, Severity
from cron2queue.analyser.measured import MeasuredRule, source_words
from cron2queue.analyser.rule import Example, Subject
from cron2queue.analyser.timing import HOUR, shortest_gap
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration
from cron2queue.evidence.statistics import Evidence

LONG = 6 * HOUR


class FailureNotRetried(MeasuredRule):
    """A run failed, and the next chance comes hours later.

    Why it matters
        When the nightly import fails at 03:00 because the database was restarted, nothing tries again at 03:05. The work of
        the day waits until the next night, or is lost.

    What to do
        A queue with retries and growing gaps; or a loop in the script that tries a few times.

    Not flagged
        Entries that run again within six hours, and entries of which no end status is known.
    """

    code = "C2Q408"
    severity = Severity.WARNING
    wanted = "how runs end is"
    bad = (Example("0 3 * * * root /opt/import.sh\n", evidence={1: {"n": 14, "statuses": 14, "failures": 2}}),)
    good = (
        Example("*/5 * * * * root /opt/import.sh\n", evidence={1: {"n": 4000, "statuses": 4000, "failures": 2}}),
        Example("0 3 * * * root /opt/import.sh\n", evidence={1: {"n": 14, "statuses": 14, "failures": 0}}),
    )

    def knows(self, evidence: Evidence) -> bool:
        """Statuses of some runs."""
        return evidence.failures is not None and evidence.statuses > 0

    def weigh(self, subject: Subject, file: CrontabFile, entry: Entry, evidence: Evidence) -> Iterator[Finding]:
        """Failures of rare entries; one that fails each time needs a correction, not a retry."""
        gap, failures = shortest_gap(entry), evidence.failures or 0
        if not failures or failures == evidence.statuses or gap is None or gap < LONG:
            return
        declared = subject.declared(file, entry).lost_on_failure
        if declared is False:
            return
        yield self.at_entry(
            subject,
            file,
            entry,
            f"a failed run is tried again only {duration(gap)} later; {failures:,} of {evidence.statuses:,} failed",
            "a queue with retries, or a loop in the script that tries a few times",
            evidence=source_words(evidence, evidence.statuses),
        )
