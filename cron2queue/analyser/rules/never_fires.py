"""C2Q201."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.fields import reversed_ranges
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.timing import calendar_of, is_dead
from cron2queue.analyser.wording import listed
from cron2queue.crontab.lines import CrontabFile, Entry

_MONTHS = "January February March April May June July August September October November December"
MONTHS = tuple(_MONTHS.split())


def _impossible_day(entry: Entry) -> str:
    calendar = calendar_of(entry)
    if calendar is None:
        return "no moment fits the schedule"
    for name, named in (("minute", calendar.minutes), ("hour", calendar.hours), ("month", calendar.months)):
        if not named:
            return f"it names no {name}"
    days = [day for day in range(1, 32) if calendar.days >> day & 1]
    months = [MONTHS[month - 1] for month in range(1, 13) if calendar.months >> month & 1]
    if len(days) == 1 and 0 < len(months) <= 4:
        return f"there is no {days[0]} {listed(months, last='or')}"
    return "none of its months has such a day"


class NeverFires(ScheduleRule):
    """The schedule names a day that its months never have.

    Why it matters
        Cron accepts `0 0 31 2 *` without a word and never starts it. Whoever wrote the line believes that the work is done.

    What to do
        Correct the day or the month; delete the line if nobody misses the job.

    Not flagged
        29 February, which comes once in four years (see `leap-day-or-skipped-months`), and ranges written backwards (see
        `reversed-range`).
    """

    code = "C2Q201"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    bad = ("0 0 31 2 * www-data php /var/www/shop/yearly.php\n", "0 12 31 4,6,9,11 * root /usr/local/bin/quarter\n")
    good = (
        "0 0 29 2 * root /usr/local/bin/leap\n",
        "0 0 31 * * root /usr/local/bin/x\n",
        Example("0 0 30 2,3 * root /usr/local/bin/x\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Proven on the evaluated sets of the daemon's own reading."""
        if not is_dead(entry.schedule) or reversed_ranges(entry.schedule_text):
            return
        yield self.at_entry(
            subject,
            file,
            entry,
            f"never fires: {_impossible_day(entry)}",
            "correct the day or the month, or delete the line",
            evidence=f"{daemon(file.dialect).title} accepts the line and has no day to start it on",
        )
