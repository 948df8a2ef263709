"""C2Q506."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.templates import is_template
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile

# safe_p() of do_command.c.
_SIGNS = {"debian": "@!:%-.,_+=/", "cronie": "@!:%-.,_+"}


class MailGoesNowhere(Rule):
    """What jobs print is mailed to somebody who does not get it.

    Why it matters
        Cron's only way to tell of a failure is a mail. A MAILTO that the daemon holds for unsafe throws it away; without a
        mail program on the host all of it is lost, with one line in the log.

    What to do
        A MAILTO of plain addresses and a mail program, or a log for each job.

    Not flagged
        Files without entries; `MAILTO=""`, which somebody wrote on purpose (see `no-redirect` for what is lost by it).
    """

    code = "C2Q506"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        'MAILTO="<ops@example.com>"\n0 3 * * * root /opt/a.sh\n',
        "MAILTO=ops@example.com, dev@example.com\n0 3 * * * root /opt/a.sh\n",
        Example("MAILTO=ops/x=1@example.com\n0 3 * * * root /opt/a.sh\n", dialect="cronie"),
        Example("MAILTO=ops@example.com\n0 3 * * * root /opt/a.sh\n", host={"mail": False}),
    )
    good = (
        "MAILTO=ops@example.com,dev@example.com\n0 3 * * * root /opt/a.sh\n",
        Example("MAILTO=ops@example.com\n0 3 * * * root /opt/a.sh\n", host={"mail": True}),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Addresses by the daemon's own rule for safe ones; the mail program on the host itself only."""
        without = subject.host is not None and subject.host.mail is False
        for file in subject.files:
            if not file.entries or file.dialect == "busybox":
                continue
            yield from self._unsafe(file)
            if without and any(line.name == "MAILTO" and line.value for line in file.assignments):
                yield self.at(
                    Place(path=file.path),
                    f"no mail program on this host: MAILTO reaches nobody, {count(len(file.entries), 'entry')} in the file",
                    "install one, or give each job a log",
                    evidence="no sendmail was found on the host",
                )

    def _unsafe(self, file: CrontabFile) -> Iterator[Finding]:
        signs = _SIGNS.get(file.dialect)
        if signs is None:
            return
        for line in file.assignments:
            if is_template(line.value):
                continue
            unsafe = _first_unsafe(line.value, signs) if line.name == "MAILTO" and "$" not in line.value else None
            if unsafe is not None:
                what = "a blank" if unsafe == " " else "a character"
                yield self.at_line(
                    file,
                    line,
                    f"MAILTO holds {what} that the daemon takes for unsafe: the mail is thrown away",
                    "write plain addresses, separated by commas without blanks",
                    evidence=f"allowed are letters, digits and {signs}, and the first must be a letter or digit",
                )


def _first_unsafe(value: str, signs: str) -> str | None:
    """The first character that may not stand in its place."""
    for at, letter in enumerate(value):
        if not letter.isascii() or not (letter.isalnum() or (at and letter in signs)):
            return letter
    return None
