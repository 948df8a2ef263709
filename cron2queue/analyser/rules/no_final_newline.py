"""C2Q102."""

from collections.abc import Iterator

from cron2queue.analyser.causes import is_assignment
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.templates import is_template_path
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import Blank, Comment, CrontabFile, Line


class NoFinalNewline(Rule):
    """The last line has no newline at its end.

    Why it matters
        Editors of other systems and templates leave it out. Debian's cron then drops the whole file, with one line in the
        log; the others drop the last entry.

    What to do
        End the last line with a newline.

    Not flagged
        A comment or blanks at the end, which are harmless, and daemons that run the line all the same (BusyBox,
        systemd-cron).
    """

    code = "C2Q102"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    dialects = frozenset({"debian", "cronie", "freebsd", "openbsd"})
    bad = ("0 1 * * * root /opt/a.sh\n0 2 * * * root /opt/b.sh", Example("0 1 * * * root /opt/a.sh", dialect="cronie"))
    good = ("0 1 * * * root /opt/a.sh\n", "0 1 * * * root /opt/a.sh\n# the end", "")

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Only the last line can lack it."""
        for file in subject.files:
            last = file.lines[-1] if file.lines else None
            if (
                file.dialect not in self.dialects
                or not file.editable
                or last is None
                or not self._lacks(last)
                or is_template_path(file.path)
            ):
                continue
            lost = daemon(file.dialect).no_newline
            entries = f", {count(self._entries(file, last), 'entry')} with it" if file.dialect == "debian" else ""
            yield self.at_line(
                file,
                last,
                f"no newline at the end of the last line: {daemon(file.dialect).title} {lost}{entries}",
                "end the last line with a newline",
                evidence=f"the rules of {daemon(file.dialect).title}",
            )

    def _entries(self, file: CrontabFile, last: Line) -> int:
        """Those that were read, and the last line unless it only sets a variable."""
        return len(file.entries) + (not is_assignment(last.raw))

    def _lacks(self, last: Line) -> bool:
        return not last.raw.endswith(b"\n") and not isinstance(last, Comment | Blank)

    def fix(self, line: Line) -> bytes | None:
        """The line with its newline."""
        return line.raw + b"\n" if self._lacks(line) else None
