"""C2Q101."""

from collections.abc import Iterator

from cron2queue.analyser.causes import bad_lines, blast, cause_of
from cron2queue.analyser.commands import here_document
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.templates import is_template_line, is_template_path
from cron2queue.crontab.describe import describe
from cron2queue.crontab.lines import CrontabFile, Entry, Malformed


class MalformedLine(Rule):
    """The daemon does not accept the line, and what that costs depends on the daemon.

    Why it matters
        Debian's cron drops the whole file for one bad line, with one message in the log that nobody sees; cronie drops the
        line; BusyBox schedules it anyway, more often than is written.

    What to do
        Correct the line as the remedy says, and look at the daemon's log after the next change.

    Not flagged
        Lines of templates (`{{ }}`, `%{ }`, `${ }`), which are no crontab yet: they are named as not judged. Causes that have
        a rule of their own, such as `no-final-newline` or `empty-assignment`.
    """

    code = "C2Q101"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (
        "61 * * * * root /bin/true\n",
        "<<<<<<< HEAD\n0 1 * * * root /bin/true\n",
        Example("61 * * * * root /bin/true\n", dialect="cronie"),
        Example("0 24 * * * /bin/true\n", dialect="busybox", kind="user", path="/var/spool/cron/crontabs/root"),
    )
    good = ("59 * * * * root /bin/true\n", "{{ minute }} * * * * root /bin/true\n")

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Every malformed line, in the daemon's own words."""
        for file in subject.files:
            bad = bad_lines(file)
            misread = {entry.number: entry for entry in file.entries if entry.misread} if bad else {}
            for line in bad:
                entry = misread.get(line.number)
                if is_template_line(file, (entry or line).raw) or is_template_path(file.path):
                    yield NotJudged(code=self.code, reason=f"line {line.number} of {file.path} is a template; render it first")
                    continue
                if cause_of(file, line) is not None:
                    continue
                if not file.editable:
                    yield self._of_another_reader(file, line)
                    continue
                what = f"{daemon(file.dialect).title} runs it {describe(entry.schedule)}" if entry else blast(file, line)
                said = "; ".join(each.message for each in entry.misread) if entry else line.message
                yield self.at_line(
                    file,
                    line,
                    f"{said}: {what}",
                    _remedy(file, line),
                    column=line.column,
                    evidence=f"the rules of {daemon(file.dialect).title}",
                )

    def _of_another_reader(self, file: CrontabFile, line: Malformed) -> Finding:
        """A line of anacrontab, or a script (which has no text here) that run-parts skips, maybe because somebody wants it."""
        reader, severity = ("anacron", self.severity) if line.raw else ("run-parts", Severity.WARNING)
        return self.at_line(file, line, line.message, line.remedy, severity=severity, evidence=f"the rules of {reader}")


_CONTINUED = "cron knows no continuation lines: write the command on one line, or into a script"

_HERE_DOCUMENT = "cron knows no here-documents: put the command and its text into a script"
_FEW_LINES = 50


def _remedy(file: CrontabFile, line: Malformed) -> str:
    """What is above may tell more than the line: a backslash at its end, or a here-document, which the shell alone knows."""
    above = file.lines[max(0, line.number - 1 - _FEW_LINES) : line.number - 1]
    if above and above[-1].raw.rstrip(b"\r\n").endswith(b"\\"):
        return _CONTINUED
    entry = next((each for each in reversed(above) if isinstance(each, Entry)), None)
    return _HERE_DOCUMENT if entry is not None and here_document(entry.command) else line.remedy
