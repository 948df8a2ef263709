"""C2Q507."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, Rule, Subject


class NoEvidence(Rule):
    """No log was read, so that nothing is known of how long runs take, how often they fail or find nothing to do.

    Why it matters
        Overlap, empty runs and failures are facts of the past: no schedule tells them. Without evidence the report says what
        the daemon's rules prove, and stays silent on the rest.

    What to do
        Give the logs (`--logs /var/log`, `--journal live`), or let the daemon write more: on Debian
        `EXTRA_OPTS="-L 15"` in /etc/default/cron logs each end and each failure.

    Not flagged
        Audits that were given logs from which at least one run was read.
    """

    code = "C2Q507"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = ("0 2 * * * root /opt/backup.sh\n",)
    good = (Example("0 2 * * * root /opt/backup.sh\n", evidence={1: {"n": 14, "starts": 14}}), "# nothing here\n")

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """One finding for the whole audit."""
        if subject.book.available or not subject.entries:
            return
        yield self.at(
            Place(path=subject.files[0].path),
            "no evidence: durations, failures and empty runs are not known",
            subject.book.how_to_get_evidence or "give the logs with --logs or --journal",
            evidence="no log was read",
        )
