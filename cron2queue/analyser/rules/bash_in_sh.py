"""C2Q322."""

import re
from collections.abc import Iterator

from cron2queue.analyser.bashisms import bashisms
from cron2queue.analyser.daemons import runs_in_dash
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject, column_in_line
from cron2queue.crontab.lines import CrontabFile, Entry


class BashInSh(EntryRule):
    """The command uses bash's own language, and cron gives it to dash.

    Why it matters
        On Debian and Ubuntu /bin/sh is dash. `[[` is "not found" there, `cmd &> file` sends the command to the background
        and empties the file, RANDOM counts as 0 or is empty, so that everybody starts at once, as HOSTNAME is, and
        `set -o pipefail` ends the shell. At the prompt, which is bash, it works.

    What to do
        `SHELL=/bin/bash` at the top of the file, or the portable form: `[ ]`, `> file 2>&1`, `.`.

    Not flagged
        Files that set SHELL to bash, commands inside `bash -c '…'`, variables that the file or the line sets itself, and
        daemons whose /bin/sh is bash.
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
        "0 3 * * * root sleep $(($RANDOM \\% 600)); /opt/a.sh\n",
        "0 3 * * * root rsync -a /srv backup:/b/$HOSTNAME\n",
    )
    good = (
        "SHELL=/bin/bash\n0 3 * * * root [[ -f /etc/on ]] && /opt/a.sh &> /var/log/a.log\n",
        "0 3 * * * root bash -c '[[ -f /etc/on ]] && /opt/a.sh'\n",
        "HOSTNAME=web1\n0 3 * * * root rsync -a /srv backup:/b/$HOSTNAME\n",
        "0 3 * * * root HOSTNAME=$(hostname) && rsync -a /srv backup:/b/$HOSTNAME\n",
        Example("0 3 * * * root grep '[[:digit:]]' /x > /tmp/y 2>&1\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Every such construct outside quotes, of each kind the first."""
        if not runs_in_dash(file, entry):
            return
        for told in bashisms(entry.command):
            if told.variable is not None and _is_set(told.variable, entry):
                continue
            yield self.at_entry(
                subject,
                file,
                entry,
                told.message,
                told.remedy,
                severity=told.severity,
                column=column_in_line(entry, told.start),
                evidence="SHELL is /bin/sh, which is dash on Debian and Ubuntu",
                detail=told.message,
            )


def _is_set(variable: str, entry: Entry) -> bool:
    return variable in entry.environment or re.search(rf"\b{variable}=", entry.command) is not None
