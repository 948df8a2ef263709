"""C2Q322."""

import re
from collections.abc import Iterator

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.daemons import runs_in_dash
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject, column_in_line
from cron2queue.crontab.lines import CrontabFile, Entry

_SUSPECT = re.compile(r"\[\[|&>|source |RANDOM|<<<|<\(|\{\d+\.\.|pushd|>&|==")
_RANDOM = re.compile(r"\$(?:RANDOM\b|\{RANDOM\}|\(\([^)]*\bRANDOM\b)")


class BashInSh(EntryRule):
    """The command uses bash's own language, and cron gives it to dash.

    Why it matters
        On Debian and Ubuntu /bin/sh is dash. `[[` is "not found" there, `cmd &> file` sends the command to the background
        and empties the file, `$RANDOM` is empty, so that everybody sleeps 0 seconds. At the prompt, which is bash, it works.

    What to do
        `SHELL=/bin/bash` at the top of the file, or the portable form: `[ ]`, `> file 2>&1`, `.`.

    Not flagged
        Files that set SHELL to bash, commands inside `bash -c '…'`, and daemons whose /bin/sh is bash.
    """

    code = "C2Q322"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    dialects = frozenset({"debian", "systemd-cron"})
    bad = (
        "0 3 * * * root /opt/backup.sh &> /var/log/backup.log\n",
        "0 3 * * * root [[ -f /etc/on ]] && /opt/a.sh\n",
        "0 3 * * * root sleep $((RANDOM \\% 600)); /opt/a.sh\n",
        "0 3 * * * www-data source /srv/app/env && /srv/app/run\n",
    )
    good = (
        "SHELL=/bin/bash\n0 3 * * * root [[ -f /etc/on ]] && /opt/a.sh &> /var/log/a.log\n",
        "0 3 * * * root bash -c '[[ -f /etc/on ]] && /opt/a.sh'\n",
        Example("0 3 * * * root grep '[[:digit:]]' /x > /tmp/y 2>&1\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The first such construct outside quotes."""
        if not _SUSPECT.search(entry.command) or not runs_in_dash(file, entry):
            return
        told = _told(entry.command)
        if told is not None:
            message, remedy, at, severity = told
            yield self.at_entry(
                subject,
                file,
                entry,
                message,
                remedy,
                severity=severity,
                column=column_in_line(entry, at),
                evidence="SHELL is /bin/sh, which is dash on Debian and Ubuntu",
            )


def _told(command: str) -> tuple[str, str, int, Severity] | None:
    for each in read_command(command).commands:
        first = each.texts[:1]
        for redirect in each.redirects:
            if redirect.operator.startswith("&>"):
                message = "dash knows no &>: the command goes to the background, its output not redirected"
                return message, "write > FILE 2>&1", redirect.start, Severity.ERROR
            if redirect.operator == "<<<":
                return (
                    "dash knows no <<<: a syntax error, nothing runs",
                    "use printf ... | COMMAND",
                    redirect.start,
                    Severity.ERROR,
                )
            if redirect.operator == ">&" and not redirect.target.isdigit() and redirect.target != "-":
                return "dash knows no >&FILE: the command does not run", "write > FILE 2>&1", redirect.start, Severity.ERROR
        if first == ("[[",):
            return (
                "dash knows no [[: not found, and the test fails",
                "write [ ... ], or SHELL=/bin/bash",
                each.start,
                Severity.ERROR,
            )
        if first in (("source",), ("pushd",)):
            return f"dash knows no {first[0]}: not found", "write . FILE, or SHELL=/bin/bash", each.start, Severity.ERROR
        if first == ("[",) and "==" in each.texts:
            return "dash's [ knows no ==: the test fails", "write =", each.start, Severity.ERROR
        for word in each.words:
            if word.expands and _RANDOM.search(word.text):
                return (
                    "dash knows no RANDOM: it counts as 0",
                    "use shuf -i 0-600 -n 1, or SHELL=/bin/bash",
                    word.start,
                    Severity.WARNING,
                )
    return None
