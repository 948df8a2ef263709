"""C2Q401."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.guards import holds_lock
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.timing import Duration, known_duration, met_itself, shortest_gap
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration


class SelfOverlap(Rule):
    """Runs take longer than the time to the next start, so that the entry meets itself.

    Why it matters
        Two copies of one job work on the same rows and files: orders are imported twice, mails go out twice, a dump is
        written by two processes. Each copy makes the other slower, which brings a third.

    What to do
        One at a time: a lock that skips while the last run is alive, or a queue with one worker. If every start matters, a
        longer interval.

    Not flagged
        Entries behind a lock, those that the log cannot tell from another line, and those whose duration nobody knows: that
        is said once.
    """

    code = "C2Q401"
    severity = Severity.ERROR
    confidence = Confidence.MEASURED
    bad = (
        "# cron2queue: takes=7m\n*/5 * * * * www-data php /var/www/shop/import_orders.php\n",
        Example(
            "*/5 * * * * www-data php /var/www/shop/import_orders.php\n",
            evidence={
                1: {"n": 4032, "median_seconds": 250.0, "p95_seconds": 372.0, "max_seconds": 800.0, "met_predecessor": 0.23}
            },
        ),
    )
    good = (
        "# cron2queue: takes=2m\n*/5 * * * * www-data php /var/www/shop/import_orders.php\n",
        Example(
            "*/5 * * * * www-data flock -n /run/lock/i php /var/www/shop/import_orders.php\n",
            evidence={1: {"n": 4032, "median_seconds": 250.0, "p95_seconds": 372.0, "max_seconds": 800.0}},
        ),
        "*/5 * * * * www-data php /var/www/shop/import_orders.php\n",
        Example(
            "*/5 * * * * www-data php /var/www/shop/import_orders.php\n",
            evidence={1: {"median_seconds": 9.0, "p95_seconds": 20.0, "met_predecessor": 0.5, "shares_with": ("another",)}},
        ),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Measured meetings first, then known durations against the shortest gap."""
        unknown = 0
        for file, entry in subject.entries:
            gap, known = shortest_gap(entry), known_duration(subject, file, entry)
            if gap is None:
                continue
            if known is None:
                unknown += 1
            elif not holds_lock(entry.command):
                yield from self._judged(subject, file, entry, gap, known)
        if unknown:
            yield NotJudged(
                code=self.code, reason=f"the duration of {unknown:,} of {len(subject.entries):,} entries is not known"
            )

    def _judged(self, subject: Subject, file: CrontabFile, entry: Entry, gap: float, known: Duration) -> Iterator[Finding]:
        evidence = subject.evidence(file, entry)
        met = met_itself(evidence)
        if known.long <= gap and not met:
            return
        typical = known.typical > gap or (met or 0) >= 0.1
        share = (
            f"{met:.0%} of {evidence.starts or evidence.n:,} starts met a live predecessor"
            if met and evidence
            else known.source
        )
        twice = daemon(file.dialect).second_copy
        takes = f"p95 run {known.words}" if known.confidence is Confidence.MEASURED else f"a run takes {known.words}"
        yield self.at_entry(
            subject,
            file,
            entry,
            f"{'overlaps itself' if twice else 'loses starts'}: {takes}, started every {duration(gap)}",
            "one at a time, skip while running"
            if twice
            else f"{daemon(file.dialect).title} skips the start; lengthen the interval",
            severity=self.severity if twice and typical else Severity.WARNING,
            confidence=known.confidence,
            evidence=share if share == known.source else f"{share}; {known.source}",
        )
