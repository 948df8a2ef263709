"""C2Q104."""

from collections.abc import Iterator

from cron2queue.analyser.causes import BOM
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.lines import Line


class ByteOrderMark(Rule):
    """The file begins with an invisible byte order mark, which is no part of any schedule.

    Why it matters
        Some editors write three bytes before the text. For cron they are the beginning of the first line, which is then
        neither a comment nor an entry. Debian's cron drops the whole file for it.

    What to do
        `sed -i '1s/^\\xEF\\xBB\\xBF//' FILE`, and save as "UTF-8 without BOM".

    Not flagged
        Files without the mark; the same bytes elsewhere in the text.
    """

    code = "C2Q104"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = ("\ufeff0 1 * * * root /opt/a.sh\n", "\ufeff# jobs\n0 1 * * * root /opt/a.sh\n")
    good = ("# jobs \ufeff\n0 1 * * * root /opt/a.sh\n", Example("0 1 * * * root /opt/a.sh\n"))

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """The first line only."""
        for file in subject.files:
            if file.lines and file.lines[0].raw.startswith(BOM):
                yield self.at_line(
                    file,
                    file.lines[0],
                    f"byte order mark before the first line: {daemon(file.dialect).title} {daemon(file.dialect).bad_line}",
                    "sed -i '1s/^\\xEF\\xBB\\xBF//' FILE",
                    column=1,
                    evidence="the first three bytes are EF BB BF",
                )

    def fix(self, line: Line) -> bytes | None:
        """The line without it."""
        return line.raw[len(BOM) :] if line.number == 1 and line.raw.startswith(BOM) else None
