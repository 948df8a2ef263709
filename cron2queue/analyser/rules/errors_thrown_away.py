"""C2Q304."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.commands import SimpleCommand, read_command
from cron2queue.analyser.daemons import daemon, runs_in_dash
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.invocations import main_invocation
from cron2queue.analyser.logs import folded_log, log_path
from cron2queue.analyser.rule import EntryRule, Example, Subject, column_in_line
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry


def _blind(command: SimpleCommand, *, dash: bool) -> int | None:
    """Where the redirect stands that sends errors to /dev/null; None when they go elsewhere."""
    out: str | None = None
    err, at = None, 0
    for each in command.redirects:
        if each.operator.startswith("&>") and dash:
            continue  # dash knows no &>: it sends the command to the background
        if each.operator.startswith("&>") or (each.operator == ">&" and each.fd is None and not each.target.isdigit()):
            out = err = each.target
            at = each.start
        elif each.operator == ">&" and each.fd == 2 and each.target == "1":
            err, at = out, each.start
        elif each.fd == 2 and each.operator.startswith(">"):
            err, at = each.target, each.start
        elif each.operator.startswith(">") and each.fd in (None, 1):
            out = each.target
    return at if err == "/dev/null" else None


class ErrorsThrownAway(EntryRule):
    """Error messages go to /dev/null, so that failures stay invisible.

    Why it matters
        `> /dev/null 2>&1` silences the mails, and with them the only trace of a job that fails each night. The exit status
        is not looked at either: cron itself says nothing.

    What to do
        Keep the output away if it is noise, and the errors in a log: `> /dev/null 2>> /var/log/NAME.log`.
        It must be a file that the job's user may write, or the command is not even started.

    Not flagged
        Redirects of tests (`command -v x > /dev/null`), and output alone that is thrown away. Several entries of one file are
        folded into one count.
    """

    code = "C2Q304"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        "*/5 * * * * www-data php /x/import.php > /dev/null 2>&1\n",
        "SHELL=/bin/bash\n0 3 * * * root /opt/backup.sh &>/dev/null\n",
        "0 3 * * * root ( /opt/a.sh; /opt/b.sh ) 2>/dev/null\n",
    )
    good = (
        "*/5 * * * * www-data php /x/import.php > /dev/null 2>> /var/log/import.log\n",
        "5-55/10 * * * * root command -v debian-sa1 > /dev/null 2>&1 && debian-sa1 1 1\n",
        Example("0 3 * * * root /opt/backup.sh > /dev/null\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Only the job itself, or a group around it."""
        if "/dev/null" not in entry.command:
            return
        main = main_invocation(entry.command)
        for each in read_command(entry.command).top:
            if each.words and (main is None or (each != main.simple and not main.inner)):
                continue
            at = _blind(each, dash=runs_in_dash(file, entry))
            if at is not None:
                seen = daemon(file.dialect).tells_failures
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    f"error messages are thrown away: a failure {'gives no reason' if seen else 'stays invisible'}",
                    f"keep the errors: > /dev/null 2>> {log_path(entry, 'NAME')}",
                    column=column_in_line(entry, at),
                    evidence="standard error goes to /dev/null"
                    + ("" if seen else ", and cron does not look at the exit status"),
                )
                return

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """One count a file."""
        so = "stay invisible" if findings[0].message.endswith("stays invisible") else "give no reason"
        message = f"{count(len(findings), 'entry')} whose error messages are thrown away: failures {so}"
        return message, folded_log("keep the errors: > /dev/null 2>> ", findings)
