"""C2Q306."""

import re
from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.lines import Assignment, CrontabFile, Entry
from cron2queue.expressions import regex
from cron2queue.redaction import redact

# What a secret needs to be recognised at all: lines without any of these are not looked at closely.
_HINT = regex(
    r"pass|pwd|secret|token|key|auth|cred|://| -[pua]|-w |dsn|akia|asia|gh[pousr]_|glpat-|xox|sk_live|eyj|-----begin|bearer"
    r"|login|cookie",
    re.IGNORECASE,
)


class SecretInCommand(Rule):
    """A password, key or token stands in the crontab in plain text.

    Why it matters
        A command line is visible to every user of the host in the process list, lands in cron's log at each start and in
        mails, and in each copy of the crontab.

    What to do
        Keep it in a file that only the user may read (`~/.my.cnf`, `~/.netrc`, an EnvironmentFile), or in a secrets store.

    Not flagged
        Paths of files that hold the secret, and variables (`-p$PASS`). Reports show a mask in its place.
    """

    code = "C2Q306"
    severity = Severity.WARNING
    confidence = Confidence.INFERRED
    bad = (
        "0 3 * * * root mysqldump -uroot -phunter2 shop > /backup/shop.sql\n",
        "*/5 * * * * www-data curl -s https://api:hunter2@example.com/poll\n",
        "DB_PASSWORD=hunter2\n0 3 * * * root /opt/a.sh\n",
    )
    good = (
        "0 3 * * * root mysqldump --defaults-file=/root/.my.cnf shop > /backup/shop.sql\n",
        Example("0 3 * * * root rsync --password-file=/etc/rsync.secret a b\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Whatever redaction masks is a secret; entries and assignments alike."""
        for file in subject.files:
            for line in file.lines:
                if isinstance(line, Entry) and _holds_secret(line.command_text):
                    message = "a secret in the command: every user sees it in the process list, and cron's log keeps it"
                    yield self.at_entry(subject, file, line, message, _REMEDY, evidence=_EVIDENCE)
                elif isinstance(line, Assignment) and _holds_secret(f"{line.name}={line.value}"):
                    yield self._in_assignment(file, line)

    def _in_assignment(self, file: CrontabFile, line: Assignment) -> Finding:
        message = f"a secret in {line.name}: it is in each copy of the crontab, and in the environment of each job below"
        return self.at_line(file, line, message, _REMEDY, evidence=_EVIDENCE, severity=Severity.NOTE)


_REMEDY = "keep it in a file that only the user may read, and name the file"
_EVIDENCE = "its place or its shape; reports mask it"


def _holds_secret(text: str) -> bool:
    return _HINT.search(text) is not None and redact(text) != text
