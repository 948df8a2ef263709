"""C2Q203."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.fields import five_fields
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.timing import calendar_of, is_dead
from cron2queue.analyser.wording import days_of_week, ordinals
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Entry


class BothDayFields(ScheduleRule):
    """Day of month and day of week are both restricted, and cron does not join them as it reads.

    Why it matters
        `0 0 13 * 5` reads like "Friday the 13th", but cron starts it on every 13th and on every Friday. When one of the
        fields begins with `*`, as in `*/2`, both must fit instead; with systemd-cron they always must, with BusyBox never.
        Each tool that imports the line has its own rule.

    What to do
        Say what you mean with one field, and test the other inside the command:
        `0 0 13 * * [ "$(date +\\%u)" = 5 ] && job`.

    Not flagged
        Lines with `*` in one of the two fields, and sets that cover every day.
    """

    code = "C2Q203"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = ("0 3 1,15 * 5 www-data php /var/www/shop/report.php\n", "0 0 */2 * 1 root /usr/local/bin/x\n")
    good = (
        "0 3 1,15 * * www-data php /var/www/shop/report.php\n",
        "0 3 * * 5 root /usr/local/bin/x\n",
        Example("0 3 1-31 * * root /usr/local/bin/x\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Which of the two rules the daemon applies is read off its own evaluation."""
        fields, calendar = five_fields(entry.schedule_text), calendar_of(entry)
        if fields is None or calendar is None or fields[2] == "*" or fields[4] == "*":
            return
        days, weekdays = ordinals(calendar.days), days_of_week(calendar.weekdays)
        if days is None or weekdays is None or is_dead(calendar):
            return
        both = not calendar.either_day
        says = f"fires only when it is {days} and {weekdays}" if both else f"fires on {days} AND on every {weekdays}"
        yield self.at_entry(
            subject,
            file,
            entry,
            says,
            "restrict one day field only, and test the other inside the command",
            severity=Severity.NOTE if both else self.severity,
            evidence=f"{daemon(file.dialect).title}: {dialect_named(file.dialect).star_rule}",
        )
