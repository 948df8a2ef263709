"""C2Q303."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.invocations import invocations
from cron2queue.analyser.logs import folded_log, log_path
from cron2queue.analyser.naming import job_name
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry

_CAPTURES = ("chronic", "cronic", "systemd-cat", "logger", "cronitor", "ts", "run-parts", "cronolog", "multilog", "svlogd")


def keeps_output(command: str) -> bool:
    """Some redirect, pipe or wrapper takes the output, so that not all of it goes to mail."""
    runs = invocations(command)
    if ">" in command or "|" in command.replace("||", ""):
        simples = [*read_command(command).top, *(each.simple for each in runs if each.inner)]
        if any(redirect.writes_stdout for each in simples for redirect in each.redirects):
            return True
        if any(each.after in ("|", "|&") for each in simples):
            return True
    return any(each.program in _CAPTURES or each.wrapped_by(*_CAPTURES) for each in runs)


class NoRedirect(EntryRule):
    """Nothing takes the output, so it goes to the mail of MAILTO or of the user, where seldom anybody looks.

    Why it matters
        A job that fails at night says so in a mail to root, which on most machines nobody reads, or which nobody delivers.
        Where MAILTO is set to nothing, the text is lost at once.

    What to do
        Append to a log file, `>> /var/log/app/job.log 2>&1`, or pipe to `systemd-cat -t job`. It must be a
        file that the job's user may write: where the shell cannot open it, the command is not even started.

    Not flagged
        Commands with a redirect, a pipe or a wrapper such as chronic; files that set MAILTO to an address, since the mail
        is wanted there; BusyBox, which sends no such mail as a rule, and systemd-cron, which writes the output to the
        journal. Several entries of one file are folded into one count.
    """

    code = "C2Q303"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    dialects = frozenset({"debian", "cronie", "freebsd", "openbsd"})
    bad = ("0 5 * * * www-data /usr/bin/php /var/www/shop/report.php\n", 'MAILTO=""\n0 5 * * * www-data /opt/report.sh\n')
    good = (
        "0 5 * * * www-data /usr/bin/php /var/www/shop/report.php >> /var/log/report.log 2>&1\n",
        "MAILTO=ops@example.com\n0 5 * * * www-data /opt/report.sh\n",
        "0 5 * * * www-data /opt/report.sh 2>&1 | systemd-cat -t report\n",
        "0 5 * * * www-data bash -lc 'cd /srv/app && ./report >> log/report.log 2>&1'\n",
        Example("0 5 * * * www-data test -x /opt/a || /opt/b >/dev/null\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Mail is wanted where MAILTO names somebody."""
        mail = entry.environment.get("MAILTO")
        if mail or entry.quiet or not entry.command.strip() or keeps_output(entry.command):
            return
        lost = mail == ""
        yield self.at_entry(
            subject,
            file,
            entry,
            "no redirect: what it prints is thrown away, since MAILTO is empty"
            if lost
            else "no redirect: what it prints goes to the user's mail",
            f"append to a log: >> {log_path(entry, job_name(entry.command))} 2>&1",
            evidence="cron mails the output of each job to MAILTO, or to the crontab's user",
        )

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """One count a file."""
        return (
            f"{count(len(findings), 'entry')} without a redirect: what they print goes to mail, or nowhere",
            folded_log("append to a log: >> ", findings, " 2>&1"),
        )
