"""C2Q108."""

from collections.abc import Iterator

from cron2queue.analyser.causes import MISSING_COMMAND, blast, lines_of_cause
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject


class MissingCommand(Rule):
    """A schedule with nothing after it.

    Why it matters
        In a user crontab Debian's cron accepts the line and runs an empty command at each of its times; in a system crontab
        the line is an error that costs the whole file.

    What to do
        Write the command, or delete the line.

    Not flagged
        Lines with a command, whatever it does.
    """

    code = "C2Q108"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = (
        "0 1 * * * root\n",
        "@daily root\n0 1 * * * root /opt/a.sh\n",
        Example("*/5 * * * *\n", kind="user", path="/var/spool/cron/crontabs/deploy"),
    )
    good = ("0 1 * * * root :\n",)

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Refused lines, and entries that were accepted with nothing to run."""
        remedy = "write the command, or delete the line"
        for file, line in lines_of_cause(subject, MISSING_COMMAND):
            yield self.at_line(file, line, f"no command after the schedule: {blast(file, line)}", remedy, column=line.column)
        for file, entry in subject.entries:
            if not entry.command.strip():
                title = daemon(file.dialect).title
                message = f"no command after the schedule: {title} accepts the line and runs nothing"
                yield self.at_entry(subject, file, entry, message, remedy, severity=Severity.WARNING)
