"""C2Q403."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.measured import MeasuredRule, source_words
from cron2queue.analyser.rule import Example, Subject
from cron2queue.analyser.timing import runs_per_day
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.evidence.statistics import Emptiness, Evidence

NEARLY_ALL = 0.8
_EMPTY = Emptiness(share=0.97, n=10080, confidence="measured", reason="no output and under 1 s")
_BUSY = Emptiness(share=0.10, n=10080, confidence="measured", reason="no output and under 1 s")


class AlwaysEmpty(MeasuredRule):
    """Nearly all runs find nothing to do.

    Why it matters
        Each run starts an interpreter, loads the application and asks the database, to learn that there is nothing. The one
        run in fifty that finds work comes minutes after the work did.

    What to do
        Enqueue the work where it arises, and let a worker take it at once; or ask less often.

    Not flagged
        Fewer than 24 runs a day, and entries of which nobody knows whether they found work.
    """

    code = "C2Q403"
    severity = Severity.WARNING
    wanted = "how often runs find work is"
    bad = (Example("*/2 * * * * www-data php /x/send_mails.php\n", evidence={1: {"n": 10080, "empty": _EMPTY}}),)
    good = (
        Example("*/2 * * * * www-data php /x/send_mails.php\n", evidence={1: {"n": 10080, "empty": _BUSY}}),
        Example("0 3 * * * root /opt/tidy.sh\n", evidence={1: {"n": 14, "empty": _EMPTY}}),
    )

    def knows(self, evidence: Evidence) -> bool:
        """The share of empty runs."""
        return evidence.empty is not None

    def weigh(self, subject: Subject, file: CrontabFile, entry: Entry, evidence: Evidence) -> Iterator[Finding]:
        """Pollers only."""
        empty = evidence.empty
        if empty is None or empty.share < NEARLY_ALL or not empty.n or runs_per_day(entry) < 24:
            return
        measured = empty.confidence == "measured"
        yield self.at_entry(
            subject,
            file,
            entry,
            f"{empty.share:.0%} of its {runs_per_day(entry):,.0f} runs a day find nothing to do",
            "enqueue the work where it arises, or ask less often",
            severity=self.severity if measured else Severity.NOTE,
            confidence=Confidence.MEASURED if measured else Confidence.INFERRED,
            evidence=f"{empty.reason}; {source_words(evidence, empty.n)}",
        )
