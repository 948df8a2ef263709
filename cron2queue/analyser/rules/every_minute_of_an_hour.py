"""C2Q205."""

from collections.abc import Iterator

from cron2queue.analyser.fields import five_fields, steps
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.timing import calendar_of, is_dead
from cron2queue.analyser.wording import listed, ordinal
from cron2queue.crontab.lines import CrontabFile, Entry

ALL_MINUTES, ALL_HOURS = (1 << 60) - 1, (1 << 24) - 1


class EveryMinuteOfAnHour(ScheduleRule):
    """A `*` in the minutes with a single hour: 60 starts where one was meant.

    Why it matters
        `* 3 * * *` is not "at three o'clock" but each minute from 03:00 to 03:59. A backup then starts sixty times, each
        beside the one before.

    What to do
        Write `0 3 * * *`.

    Not flagged
        Ranges of hours, such as `* 8-18 * * *`, which are meant that way as a rule.
    """

    code = "C2Q205"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "* 3 * * * root /opt/backup.sh\n",
        "* */2 * * * root /opt/sync.sh\n",
        "* 1,13 * * * root /opt/sync.sh\n",
        "*/1 3 * * * root /opt/a.sh\n",
    )
    good = (
        "0 3 * * * root /opt/backup.sh\n",
        "* 8-18 * * * root /opt/poll.sh\n",
        "* */1 * * * root /opt/poll.sh\n",
        Example("* * * * * root /opt/poll.sh\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Single hours, short lists of them, and steps of hours."""
        fields, calendar = five_fields(entry.schedule_text), calendar_of(entry)
        if (
            fields is None
            or calendar is None
            or calendar.minutes != ALL_MINUTES
            or calendar.hours == ALL_HOURS
            or is_dead(calendar)
        ):
            return
        hours = [hour for hour in range(24) if calendar.hours >> hour & 1]
        stepped = next((step for index, text, *_, step in steps(entry.schedule_text) if index == 1 and text == fields[1]), None)
        if not stepped and ("-" in fields[1] or len(hours) > 3):
            return
        shown = f"every {ordinal(stepped)} hour" if stepped and len(hours) > 3 else listed([f"{hour:02d}:00" for hour in hours])
        yield self.at_entry(
            subject,
            file,
            entry,
            f"starts every minute for a whole hour ({shown}): {60 * len(hours):,} starts a day",
            f"write 0 {fields[1]} {' '.join(fields[2:])} for one start in each of these hours",
            evidence=f"{fields[0]} in the minutes names all sixty of them",
            column=entry.raw.decode("utf-8", "surrogateescape").find(fields[0]) + 1,
        )
