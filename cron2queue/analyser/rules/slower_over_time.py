"""C2Q406."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Finding, Severity
from cron2queue.analyser.measured import MeasuredRule, source_words
from cron2queue.analyser.rule import Example, Subject
from cron2queue.analyser.timing import shortest_gap
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration
from cron2queue.evidence.statistics import Evidence

LEAST_DAYS, LEAST_RUNS = 5.0, 20
GROWTH = 0.2


class SlowerOverTime(MeasuredRule):
    """Runs take longer from week to week.

    Why it matters
        Tables grow, logs are never cut, an index is missing: the run that takes four minutes of five today meets its next
        start in two months.

    What to do
        Find out what grows. The message says when the run will be as long as the interval, if it goes on like this.

    Not flagged
        Fewer than twenty runs or five days, growth below a fifth over the window, and differences below ten seconds.
    """

    code = "C2Q406"
    severity = Severity.WARNING
    wanted = "how durations change is"
    bad = (
        Example(
            "*/5 * * * * www-data php /x/import.php\n",
            evidence={1: {"n": 4000, "median_seconds": 120.0, "p95_seconds": 150.0, "trend_seconds_per_day": 4.0}},
        ),
    )
    good = (
        Example(
            "*/5 * * * * www-data php /x/import.php\n",
            evidence={1: {"n": 4000, "median_seconds": 120.0, "p95_seconds": 150.0, "trend_seconds_per_day": 0.1}},
        ),
    )

    def knows(self, evidence: Evidence) -> bool:
        """A trend over enough runs."""
        return evidence.trend_seconds_per_day is not None and evidence.median_seconds is not None

    def weigh(self, subject: Subject, file: CrontabFile, entry: Entry, evidence: Evidence) -> Iterator[Finding]:
        """Growth over the window against the median."""
        trend, median = evidence.trend_seconds_per_day or 0.0, evidence.median_seconds or 0.0
        days = evidence.window.days
        growth = trend * days
        if days < LEAST_DAYS or evidence.n < LEAST_RUNS or growth < max(10.0, GROWTH * median):
            return
        gap, left = shortest_gap(entry), ""
        if gap is not None and evidence.p95_seconds is not None and evidence.p95_seconds < gap:
            left = f"; as long as its interval in {(gap - evidence.p95_seconds) / trend:,.0f} days, if it goes on"
        yield self.at_entry(
            subject,
            file,
            entry,
            f"gets slower by {duration(trend)} a day{left}"
            if trend >= 1
            else f"gets slower by {duration(trend * 7)} a week{left}",
            "find out what grows, before it meets its next start",
            evidence=source_words(evidence, evidence.n),
        )
