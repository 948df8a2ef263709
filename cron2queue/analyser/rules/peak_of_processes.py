"""C2Q505."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.load import load_of
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.timing import known_duration
from cron2queue.analyser.wording import count

HIGH = 6


class PeakOfProcesses(Rule):
    """Many runs are alive at the same time, by their known durations.

    Why it matters
        Cron starts whatever is due, however much is running. Memory and connections to the database are sized for the usual
        two or three, and at the peak the kernel kills one of them.

    What to do
        Move long jobs out of each other's way, or give them to a queue, whose number of workers is the limit.

    Not flagged
        Fewer than six at a time, and hosts of which fewer than half of the entries have a known duration.
    """

    code = "C2Q505"
    severity = Severity.WARNING
    confidence = Confidence.MEASURED
    bad = (
        "".join(f"# cron2queue: takes=2h\n{at * 7} 2 * * * root /opt/job{at}.sh\n" for at in range(7)),
        Example(
            "".join(f"{at * 7} 2 * * * root /opt/job{at}.sh\n" for at in range(7)),
            evidence={at + 1: {"median_seconds": 6000.0, "p95_seconds": 7200.0} for at in range(7)},
        ),
    )
    good = (
        "".join(f"# cron2queue: takes=2m\n{at * 7} 2 * * * root /opt/job{at}.sh\n" for at in range(7)),
        "".join(f"{at * 7} 2 * * * root /opt/job{at}.sh\n" for at in range(7)),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """The busiest day of the busiest host."""
        known = sum(known_duration(subject, file, entry) is not None for file, entry in subject.entries)
        if known * 2 < len(subject.entries):
            yield NotJudged(code=self.code, reason="how many runs are alive at once is not known: too few durations are")
            return
        load = load_of(subject, {})
        if load is not None and load.peak >= HIGH:
            declared = not subject.book.available
            yield self.at(
                Place(path=subject.files[0].path),
                f"{load.peak} runs alive at once, on {load.peak_at:%d %b at %H:%M}",
                "move long jobs apart, or give them to a queue, whose workers are the limit",
                confidence=Confidence.DECLARED if declared else Confidence.MEASURED,
                evidence=f"known durations of {count(known, 'entry')}; {load.unknown:,} unknown count for one minute each",
            )
