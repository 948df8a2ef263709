"""C2Q306."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import compress

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.lines import Assignment, CrontabFile
from cron2queue.expressions import any_of, regex
from cron2queue.redaction import redact

# What a secret needs to be recognised at all: lines without any of these are not looked at closely.
_WORDS = """
    pass pwd secret token key auth cred dsn akia asia ghp_ gho_ ghu_ ghr_ ghs_ glpat- xox sk_live eyj bearer login cookie
    -----begin ://
"""
_HINT = regex(any_of(_WORDS.split()) + "| -[pua]|-w ")


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
        held = bytearray(len(subject.entries))
        for at in subject.readings.order:
            held[at] = _holds_secret(subject.entries[at][1].command_text)
        for file, entry in compress(subject.entries, held):
            message = "a secret in the command: every user sees it in the process list, and cron's log keeps it"
            yield self.at_entry(subject, file, entry, message, _REMEDY, evidence=_EVIDENCE)
        for file in subject.files:
            for line in file.assignments:
                if _holds_secret(f"{line.name}={line.value}"):
                    yield self._in_assignment(file, line)

    def _in_assignment(self, file: CrontabFile, line: Assignment) -> Finding:
        message = f"a secret in {line.name}: it is in each copy of the crontab, and in the environment of each job below"
        return self.at_line(file, line, message, _REMEDY, evidence=_EVIDENCE, severity=Severity.NOTE)


_REMEDY = "keep it in a file that only the user may read, and name the file"
_EVIDENCE = "its place or its shape; reports mask it"


@lru_cache(maxsize=256)
def _holds_secret(text: str) -> bool:
    return _HINT.search(text.lower()) is not None and redact(text) != text
