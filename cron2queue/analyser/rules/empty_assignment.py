"""C2Q111."""

from collections.abc import Iterator

from cron2queue.analyser.causes import EMPTY_ASSIGNMENT, blast, lines_of_cause
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.lines import Line, Malformed


class EmptyAssignment(Rule):
    """`NAME=` with nothing behind it is no assignment for this daemon, but a broken entry.

    Why it matters
        `MAILTO=` is often written to turn the mail off. cronie takes it; Debian's cron reads it as a schedule, finds a bad
        minute and drops the whole file.

    What to do
        Write `NAME=""`.

    Not flagged
        Daemons that accept it, and `NAME=""`.
    """

    code = "C2Q111"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = ("MAILTO=\n0 1 * * * root /opt/a.sh\n",)
    good = ('MAILTO=""\n0 1 * * * root /opt/a.sh\n', Example("MAILTO=\n0 1 * * * root /opt/a.sh\n", dialect="cronie"))

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Lines that the daemon refused and that read like an assignment without a value."""
        for file, line in lines_of_cause(subject, EMPTY_ASSIGNMENT):
            name = line.raw.partition(b"=")[0].strip().decode("utf-8", "surrogateescape")
            yield self.at_line(
                file,
                line,
                f"{name}= without a value is read as a schedule ({line.message}): {blast(file, line)}",
                f'write {name}=""',
                column=line.column,
                evidence="the daemon takes no assignment without a value",
            )

    def fix(self, line: Line) -> bytes | None:
        """The two quotes added."""
        head, equals, tail = line.raw.partition(b"=")
        if isinstance(line, Malformed) and equals and not tail.strip() and b" " not in head.strip():
            return head + b'=""\n'
        return None
