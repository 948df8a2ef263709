"""C2Q405."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Finding, Severity
from cron2queue.analyser.measured import MeasuredRule, source_words
from cron2queue.analyser.rule import Example, Subject
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.evidence.statistics import Evidence

OFTEN = 0.5


class Failing(MeasuredRule):
    """Runs end with an error status or a signal.

    Why it matters
        Cron starts the next run and says nothing. A job that fails each night is worse than none, since everybody believes
        that it runs.

    What to do
        Look at its output; give it a log and an alarm, or a queue, in which failures are counted, retried and shown.

    Not flagged
        Entries of which no end status is known: not every log has one.
    """

    code = "C2Q405"
    severity = Severity.WARNING
    wanted = "how runs end is"
    bad = (Example("0 3 * * * root /opt/backup.sh\n", evidence={1: {"n": 14, "statuses": 14, "failures": 9}}),)
    good = (
        Example("0 3 * * * root /opt/backup.sh\n", evidence={1: {"n": 14, "statuses": 14, "failures": 0}}),
        Example("0 3 * * * root /opt/backup.sh\n", evidence={1: {"n": 14}}),
    )

    def knows(self, evidence: Evidence) -> bool:
        """Statuses of some runs."""
        return evidence.failures is not None and evidence.statuses > 0

    def weigh(self, subject: Subject, file: CrontabFile, entry: Entry, evidence: Evidence) -> Iterator[Finding]:
        """More than half is broken, fewer are a warning."""
        failures = evidence.failures or 0
        if not failures:
            return
        always = failures == evidence.statuses
        last = evidence.last_failure
        when = f", last on {last.at.astimezone(subject.zone):%d %b %H:%M}" if last else ""
        how = "" if last is None else f" with signal {last.signal}" if last.signal else f" with status {last.exit_status}"
        yield self.at_entry(
            subject,
            file,
            entry,
            "fails each time" if always else f"{failures:,} of {evidence.statuses:,} runs failed",
            "look at its output; give it a log and an alarm",
            severity=Severity.ERROR if failures / evidence.statuses >= OFTEN else self.severity,
            evidence=f"{source_words(evidence, evidence.statuses)}{when}{how}",
        )
