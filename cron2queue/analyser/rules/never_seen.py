"""C2Q407."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.timing import window_words


class NeverSeen(Rule):
    """The entry should have run while the log was written, and is not in it, although others are.

    Why it matters
        The daemon may not have read the file, the line may be newer than the log, or the log may have lost lines. In the
        first case the job does not run at all.

    What to do
        Look whether the daemon has complained about the file (`journalctl -t cron`), and whether the job's own traces are
        fresh.

    Not flagged
        Entries that were not due in the window, and logs that hold no run of the same kind of crontab. That a run is not in
        the log proves nothing; so it is never more than a warning.
    """

    code = "C2Q407"
    severity = Severity.WARNING
    confidence = Confidence.MEASURED
    bad = (Example("0 3 * * * root /opt/a.sh\n0 4 * * * root /opt/b.sh\n", evidence={1: {"n": 14}, 2: {"never_seen": True}}),)
    good = (Example("0 3 * * * root /opt/a.sh\n", evidence={1: {"n": 14}}), "0 3 * * * root /opt/a.sh\n")

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """As the evidence says."""
        if not subject.book.available:
            yield NotJudged(code=self.code, reason="which entries ran is not known: no log was read")
            return
        unseen = set(subject.book.never_seen)
        window = f"{window_words(subject.book.window.days)}, " if subject.book.window else ""
        for file, entry in subject.entries:
            if subject.id_of(file, entry) in unseen:
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    "was due while the log was written, and is not in it, although others are",
                    "look whether the daemon reads this file, and whether the job's own traces are fresh",
                    evidence=f"{window}{', '.join(subject.book.sources[:3])}; a missing line is no proof",
                )
