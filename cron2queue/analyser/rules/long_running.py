"""C2Q404."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.guards import holds_lock, time_limit
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.timing import HOUR, known_duration, shortest_gap

LONG = HOUR


class LongRunning(Rule):
    """Runs take an hour or more.

    Why it matters
        A run of hours cannot be interrupted by a deployment or a reboot without losing all of it; when it fails at the end,
        it begins at the beginning.

    What to do
        Split it: a producer that lists what there is to do, and one small job for each, worked by several, retried alone.
        At least a time limit and a lock.

    Not flagged
        Runs below an hour, and entries whose duration nobody knows.
    """

    code = "C2Q404"
    severity = Severity.NOTE
    confidence = Confidence.MEASURED
    bad = (
        "# cron2queue: takes=3h\n0 1 * * * root /opt/nightly-import.sh\n",
        Example(
            "0 1 * * * root /opt/nightly-import.sh\n",
            evidence={1: {"n": 14, "median_seconds": 9000.0, "p95_seconds": 12000.0, "max_seconds": 13000.0}},
        ),
    )
    good = (
        "# cron2queue: takes=20m\n0 1 * * * root /opt/nightly-import.sh\n",
        "0 1 * * * root /opt/nightly-import.sh\n",
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Known durations only; a run without a time limit is worse."""
        for file, entry in subject.entries:
            known = known_duration(subject, file, entry)
            if known is None or known.long < LONG:
                continue
            gap = shortest_gap(entry)
            if gap is not None and known.long > gap and not holds_lock(entry.command):
                continue  # self-overlap tells the worse
            bare = time_limit(entry.command) is None
            yield self.at_entry(
                subject,
                file,
                entry,
                f"runs take {known.words}{' and nothing ends one that hangs' if bare else ''}",
                "split it into a producer and small jobs" + ("; at least a time limit" if bare else ""),
                confidence=known.confidence,
                evidence=known.source,
            )
