"""C2Q209."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.timing import calendar_of
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry


class ZoneDifference(EntryRule):
    """The entry is started by another zone's clock than the rest of the host, or works by another than it is started by.

    Why it matters
        With CRON_TZ the distance to the host's other jobs changes twice a year, and at the host's own clock change cronie
        can lose the start. With TZ the job's "today" is another day than the schedule's around midnight.

    What to do
        One zone for the host, its schedules and its jobs; UTC where several countries meet.

    Not flagged
        Zones that are the same under another name, and daemons on which CRON_TZ has no effect (see
        `variable-without-effect`).
    """

    code = "C2Q209"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        Example("CRON_TZ=America/New_York\n0 9 * * * root /opt/a.sh\n", dialect="cronie"),
        "TZ=Asia/Tokyo\n0 0 * * * root /opt/daily-report.sh\n",
    )
    good = (
        Example("CRON_TZ=Europe/Berlin\n0 9 * * * root /opt/a.sh\n", dialect="cronie"),
        "TZ=Europe/Berlin\n0 0 * * * root /opt/daily-report.sh\n",
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The schedule's zone and the job's, against the daemon's."""
        calendar = calendar_of(entry)
        if calendar is None:
            return
        host = subject.zone.key
        starts_by = calendar.zone or host
        works_by = entry.environment.get("TZ") or host
        if calendar.zone and calendar.zone != host:
            message = f"started by the clock of {starts_by}, while the host goes by {host}"
        elif works_by.lstrip(":") != starts_by:
            message = f"started by the clock of {starts_by}, while the job itself works by {works_by}"
        else:
            return
        yield self.at_entry(subject, file, entry, message, "use one zone for the host, its schedules and its jobs")

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """One count a file."""
        return f"{count(len(findings), 'entry')} in another zone: {findings[0].message}", findings[0].remedy
