"""C2Q117."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, Rule, Subject


class ExpiredIgnore(Rule):
    """An ignore comment whose last day is over; what it silenced is shown again.

    Why it matters
        Somebody decided to look again by that day.

    What to do
        Correct the entry, or renew the date with the reason.

    Not flagged
        Ignores without a date, and those whose last day is today or later.
    """

    code = "C2Q117"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = ("# cron2queue: ignore[C2Q303] until the move until=2026-06-30\n0 1 * * * root /opt/a.sh\n",)
    good = (
        "# cron2queue: ignore[C2Q303] until the move until=2099-12-31\n0 1 * * * root /opt/a.sh\n",
        Example("# cron2queue: ignore[C2Q303] mail is wanted\n0 1 * * * root /opt/a.sh\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Measured against the audit's own day."""
        today = subject.at.astimezone(subject.zone).date()
        for file, remark, _ in subject.said.remarks:
            ignore = remark.ignore
            if ignore is None or ignore.trouble is not None or not ignore.expired(today):
                continue
            yield self.at(
                Place(path=file.path, line=ignore.line),
                f"the ignore of {', '.join(sorted(ignore.codes))} ended on {ignore.until}",
                "correct the entry, or renew the date with the reason",
                raw=file.lines[ignore.line - 1].raw,
                evidence=f"today is {today}",
            )
