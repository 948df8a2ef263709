"""C2Q113."""

from collections.abc import Iterator

from cron2queue.analyser.causes import VARIABLE_WITHOUT_EFFECT, lines_of_cause
from cron2queue.analyser.daemons import Daemon, daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Assignment, CrontabFile


class VariableWithoutEffect(Rule):
    """An assignment that this daemon does not heed as it seems.

    Why it matters
        CRON_TZ moves the schedule under cronie and systemd-cron only; Debian's cron hands it to the job and goes by the
        host's zone, so that the job runs hours off. TZ changes the job, and the schedule under systemd-cron only. BusyBox
        reads SHELL, PATH and MAILTO, nothing else.

    What to do
        Write the schedule in the host's zone; set other variables inside the command.

    Not flagged
        Variables that the daemon heeds, and all that are meant for the jobs.
    """

    code = "C2Q113"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "CRON_TZ=America/New_York\n0 9 * * * root /opt/a.sh\n",
        "RANDOM_DELAY=30\n0 9 * * * root /opt/a.sh\n",
        Example("APP_ENV=prod\n0 9 * * * /opt/a.sh\n", dialect="busybox", kind="user", path="/var/spool/cron/crontabs/root"),
    )
    good = (
        "APP_ENV=prod\n0 9 * * * root /opt/a.sh\n",
        Example("CRON_TZ=America/New_York\n0 9 * * * root /opt/a.sh\n", dialect="cronie"),
        Example("TZ=Asia/Tokyo\nUSER=shop\n0 9 * * * root /opt/a.sh\n", dialect="systemd-cron"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Lines that the daemon passes over, then assignments that it takes and does not heed."""
        for file, refused in lines_of_cause(subject, VARIABLE_WITHOUT_EFFECT):
            name = refused.raw.partition(b"=")[0].strip().decode("utf-8", "surrogateescape")
            title = daemon(file.dialect).title
            yield self.at_line(
                file, refused, f"{title} does not read {name}", "set it inside the command", evidence=refused.message
            )
        for file in subject.files:
            facts = daemon(file.dialect)
            for line in file.assignments:
                told = self._told(file, line, facts)
                if told is not None:
                    message, remedy, severity = told
                    yield self.at_line(file, line, message, remedy, severity=severity, evidence=f"the rules of {facts.title}")

    def _told(self, file: CrontabFile, line: Assignment, facts: Daemon) -> tuple[str, str, Severity] | None:
        if line.name == "CRON_TZ" and not facts.cron_tz:
            return (
                f"CRON_TZ has no effect on {facts.title}: the schedule goes by the host's zone, not by {line.value}",
                "write the schedule in the host's zone",
                Severity.WARNING,
            )
        if line.name == "RANDOM_DELAY" and not facts.random_delay:
            return f"RANDOM_DELAY has no effect on {facts.title}", "spread the minutes by hand", Severity.WARNING
        if line.name == "TZ" and "TZ" not in dialect_named(file.dialect).zone_variables:
            return (
                "TZ changes the clock of the jobs only; their start goes by the daemon's zone",
                "nothing, if that is meant",
                Severity.NOTE,
            )
        if line.name in facts.forced:
            return f"{facts.title} sets {line.name} itself; this line is overruled", "delete the line", Severity.NOTE
        return None
