"""C2Q314."""

from collections.abc import Iterator

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject, column_in_line
from cron2queue.analyser.timing import is_rare
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.crontab.schedule import AtReboot
from cron2queue.expressions import regex

_GROUP_IN_BACKGROUND = regex(r"\)\s*(&)\s*\Z")


class BackgroundCommand(EntryRule):
    """`&` sends the command to the background, where nobody waits for it.

    Why it matters
        Its exit status is lost, Debian's log shows a run of no length, a lock around the line is free again or held for
        ever, and each start can leave one more process behind.

    What to do
        Leave the `&` out: cron does not wait for a job before it starts the next. Where several commands run side by side,
        end the line with `wait`.

    Not flagged
        Lines that end with `wait`; @reboot lines, which `daemon-at-reboot` tells of. A note only where six hours or more lie
        between two starts, so that no processes pile up.
    """

    code = "C2Q314"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "*/10 * * * * www-data php /x/poll.php &\n",
        "0 * * * * root nohup /opt/sync.sh > /dev/null 2>&1 &\n",
        "0 3 * * * root nohup /opt/report.sh > /dev/null 2>&1 &\n",
        "*/10 * * * * root (/opt/a.sh; /opt/b.sh) &\n",
    )
    good = (
        "*/10 * * * * www-data php /x/poll.php\n",
        "*/10 * * * * www-data php /x/a.php & php /x/b.php & wait\n",
        Example("0 3 * * * root curl -s 'https://example.com/?a=1&b=2' > /tmp/x\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """A single `&` at the top of the line, or after a group."""
        if "&" not in entry.command or isinstance(entry.schedule, AtReboot):
            return
        top = read_command(entry.command).top
        if any(each.texts[:1] == ("wait",) for each in top):
            return
        at = next((each for each in top if each.after == "&"), None)
        group = _GROUP_IN_BACKGROUND.search(entry.command)
        if at is None and group is None:
            return
        last = at is None or at is top[-1]
        yield self.at_entry(
            subject,
            file,
            entry,
            "& sends it to the background: nobody waits for it, or sees how it ends",
            "leave the & out, or end the line with wait",
            severity=self.severity if last and not is_rare(entry) else Severity.NOTE,
            column=column_in_line(entry, at.end if at is not None else group.start(1) if group else 0),
            evidence="the shell does not wait for background commands",
        )
