"""C2Q205."""

from collections.abc import Iterator

from cron2queue.analyser.fields import five_fields, steps
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.timing import calendar_of, is_dead
from cron2queue.analyser.wording import listed, ordinal
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.crontab.schedule import Calendar
from cron2queue.expressions import regex

# A value or a short list, as it is written.
_FEW = regex(r"[0-9A-Za-z]+(?:,[0-9A-Za-z]+){0,2}")
ALL_MINUTES, ALL_HOURS = (1 << 60) - 1, (1 << 24) - 1


class EveryMinuteOfAnHour(ScheduleRule):
    """A `*` in the minutes with a single hour or day: 60 or 1,440 starts where one was meant.

    Why it matters
        `* 3 * * *` is not "at three o'clock" but each minute from 03:00 to 03:59. A backup then starts sixty times, each
        beside the one before. `* * 1 * *` is not "on the first" but each minute of it.

    What to do
        Write `0 3 * * *`, or `0 0 1 * *`.

    Not flagged
        Ranges of hours or days, such as `* 8-18 * * *` and `* * * * mon-fri`, which are meant that way as a rule.
    """

    code = "C2Q205"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "* 3 * * * root /opt/backup.sh\n",
        "* */2 * * * root /opt/sync.sh\n",
        "* 1,13 * * * root /opt/sync.sh\n",
        "*/1 3 * * * root /opt/a.sh\n",
        "* * 1 * * root /opt/invoices.sh\n",
        "* * * * sun root /opt/tidy.sh\n",
    )
    good = (
        "0 3 * * * root /opt/backup.sh\n",
        "* 8-18 * * * root /opt/poll.sh\n",
        "* */1 * * * root /opt/poll.sh\n",
        "* * * * mon-fri root /opt/poll.sh\n",
        Example("* * * * * root /opt/poll.sh\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Single hours, short lists of them, and steps of hours; where every hour is named, days in the same way."""
        fields, calendar = five_fields(entry.schedule_text), calendar_of(entry)
        if fields is None or calendar is None or calendar.minutes != ALL_MINUTES or is_dead(calendar):
            return
        told = _of_days(fields) if calendar.hours == ALL_HOURS else _of_hours(entry, fields, calendar)
        if told is not None:
            message, remedy = told
            yield self.at_entry(
                subject,
                file,
                entry,
                message,
                remedy,
                evidence=f"{fields[0]} in the minutes names all sixty of them",
                column=entry.raw.decode("utf-8", "surrogateescape").find(fields[0]) + 1,
            )


def _of_hours(entry: Entry, fields: tuple[str, ...], calendar: Calendar) -> tuple[str, str] | None:
    hours = [hour for hour in range(24) if calendar.hours >> hour & 1]
    stepped = next((step for index, text, *_, step in steps(entry.schedule_text) if index == 1 and text == fields[1]), None)
    if not stepped and ("-" in fields[1] or len(hours) > 3):
        return None
    shown = f"every {ordinal(stepped)} hour" if stepped and len(hours) > 3 else listed([f"{hour:02d}:00" for hour in hours])
    return (
        f"starts every minute for a whole hour ({shown}): {60 * len(hours):,} starts a day",
        f"write 0 {fields[1]} {' '.join(fields[2:])} for one start in each of these hours",
    )


def _of_days(fields: tuple[str, ...]) -> tuple[str, str] | None:
    restricted = [field for field in fields[2:] if not field.startswith("*")]
    if not restricted or not all(map(_FEW.fullmatch, restricted)):
        return None
    rest = " ".join(fields[2:])
    return (
        f"starts every minute of a whole day ({rest}): 1,440 starts on it",
        f"write 0 0 {rest} for one start on each such day",
    )
