"""C2Q305."""

from collections.abc import Iterator

from cron2queue.analyser.commands import SimpleCommand, read_command
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject, column_in_line
from cron2queue.crontab.lines import CrontabFile, Entry


def _early(command: SimpleCommand) -> tuple[int, str] | None:
    """Where a `2>&1` stands before the redirect of standard output, and where that goes."""
    copied: int | None = None
    for each in command.redirects:
        if copied is not None and each.writes_stdout and not each.operator.startswith("&"):
            return copied, each.target
        if copied is None and each.operator == ">&" and each.fd == 2 and each.target == "1":
            copied = each.start
    return None


class RedirectOrder(EntryRule):
    """`2>&1` stands before the redirect of the output, so that errors do not go into the file.

    Why it matters
        Redirects work from left to right: `2>&1 > file` sends errors to where the output went until then, which is cron's
        mail, and only then the output into the file. The log shows no error, ever.

    What to do
        Write `> file 2>&1`.

    Not flagged
        The same order before a pipe, where it is a known trick. A note only, where the output goes to /dev/null: that the
        errors are mailed may be meant.
    """

    code = "C2Q305"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = ("0 3 * * * root /opt/backup.sh 2>&1 >> /var/log/backup.log\n",)
    good = (
        "0 3 * * * root /opt/backup.sh >> /var/log/backup.log 2>&1\n",
        Example("0 3 * * * root /opt/backup.sh 2>&1 >/dev/null | grep -v noise\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The first such command of the line."""
        if "2>&1" not in entry.command:
            return
        for each in read_command(entry.command).top:
            early = _early(each)
            if early is not None and each.after not in ("|", "|&"):
                at, target = early
                meant = target == "/dev/null"  # a known way to throw the output away and have the errors mailed
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    "2>&1 stands before the output's redirect: errors go to cron, not into the file",
                    "write > /dev/null alone, which does the same, or > FILE 2>&1 to have both in a file"
                    if meant
                    else "write > FILE 2>&1",
                    severity=Severity.NOTE if meant else self.severity,
                    column=column_in_line(entry, at),
                    evidence="the shell sets up redirects from left to right",
                )
                return
