"""C2Q207."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.timing import calendar_of
from cron2queue.crontab.lines import CrontabFile, Entry


class RandomRange(ScheduleRule):
    """A `~` range: the daemon draws a value each time that it loads the file.

    Why it matters
        The time changes with each restart and each edit, so that an interval can be short or long once, and other tools and
        daemons read the field differently or refuse it.

    What to do
        Keep it if any time will do; otherwise write the minute. A plan for another target needs a fixed one.

    Not flagged
        Daemons that take no random ranges: what they make of `~` is told by `junk-in-field` or `malformed-line`.
    """

    code = "C2Q207"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    dialects = frozenset({"cronie", "openbsd", "systemd-cron"})
    bad = (Example("0~59 3 * * * root /opt/a.sh\n", dialect="cronie"),)
    good = (Example("17 3 * * * root /opt/a.sh\n", dialect="cronie"),)

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Where the daemon itself draws."""
        calendar = calendar_of(entry)
        if calendar is not None and calendar.random:
            yield self.at_entry(
                subject,
                file,
                entry,
                f"~ draws a new value each time {daemon(file.dialect).title} loads the file",
                "keep it if any time will do, otherwise write the value",
                evidence=f"the rules of {daemon(file.dialect).title}",
                column=entry.raw.find(b"~") + 1,
            )
