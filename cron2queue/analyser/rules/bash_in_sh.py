"""C2Q322."""

from collections.abc import Iterator

from cron2queue.analyser.bashisms import first_bashism
from cron2queue.analyser.daemons import runs_in_dash
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject, column_in_line
from cron2queue.crontab.lines import CrontabFile, Entry


class BashInSh(EntryRule):
    """The command uses bash's own language, and cron gives it to dash.

    Why it matters
        On Debian and Ubuntu /bin/sh is dash. `[[` is "not found" there, `cmd &> file` sends the command to the background
        and empties the file, `$RANDOM` is empty, so that everybody sleeps 0 seconds, and `set -o pipefail` ends the shell. At
        the prompt, which is bash, it works.

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
        "0 3 * * * root set -o pipefail; pg_dump shop | gzip > /b/shop.gz\n",
        "0 3 * * * root diff <(sort /a) <(sort /b)\n",
        "0 3 * * * root rm -rf /var/cache/{app,web}\n",
    )
    good = (
        "SHELL=/bin/bash\n0 3 * * * root [[ -f /etc/on ]] && /opt/a.sh &> /var/log/a.log\n",
        "0 3 * * * root bash -c '[[ -f /etc/on ]] && /opt/a.sh'\n",
        Example("0 3 * * * root grep '[[:digit:]]' /x > /tmp/y 2>&1\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The first such construct outside quotes."""
        if not runs_in_dash(file, entry):
            return
        told = first_bashism(entry.command)
        if told is not None:
            yield self.at_entry(
                subject,
                file,
                entry,
                told.message,
                told.remedy,
                severity=told.severity,
                column=column_in_line(entry, told.start),
                evidence="SHELL is /bin/sh, which is dash on Debian and Ubuntu",
            )
