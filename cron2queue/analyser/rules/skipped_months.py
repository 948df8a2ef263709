"""C2Q206."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.timing import calendar_of, is_dead
from cron2queue.analyser.wording import listed, ordinal
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.expressions import regex

_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_NAMES = "January February March April May June July August September October November December"
MONTHS = tuple(_NAMES.split())
_DATE = regex(r"(?<![\w.-])date(?![\w.-])")


class SkippedMonths(EntryRule):
    """A day that some of the named months do not have: those months are left out, or all years but each fourth.

    Why it matters
        "On the 31st" is seven times a year, not twelve, and "on 29 February" once in four years. Monthly invoices on the
        31st come out in seven months only.

    What to do
        For the end of the month start on the 28th to 31st and test for the last day inside the command, or start on the
        1st and work for the month before.

    Not flagged
        Lines that restrict the day of the week too, commands that look at the date themselves, and days that no named month
        has (see `never-fires`).
    """

    code = "C2Q206"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "0 2 31 * * root /opt/invoices.sh\n",
        "0 0 29 2 * root /opt/a.sh\n",
        "0 0 30,31 * * root /opt/a.sh\n",
        "0 2 31 * * root /opt/update.sh\n",
    )
    good = (
        "0 2 28 * * root /opt/invoices.sh\n",
        "0 2 31 1,3 * root /opt/a.sh\n",
        '0 2 28-31 * * root [ "$(date -d tomorrow +\\%d)" = 01 ] && /opt/a.sh\n',
        Example("0 0 31 2 * root /opt/a.sh\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Months without any of the named days."""
        calendar = calendar_of(entry)
        if (
            calendar is None
            or calendar.either_day
            or calendar.days & 0x1FFFFFFE
            or is_dead(calendar)
            or _DATE.search(entry.command)
        ):
            return
        first = next(day for day in range(29, 32) if calendar.days >> day & 1)
        named = [month for month in range(12) if calendar.months >> (month + 1) & 1]
        skipped = [MONTHS[month] for month in named if _LENGTHS[month] < first]
        if not skipped:
            return
        only_leap = skipped == ["February"] and len(named) == 1
        left = [name for name in skipped if name != "February" or first > 29]
        rest = f"; {skipped[0]} counts in leap years only" if first == 29 and not only_leap else ""
        message = (
            "fires in leap years only, on 29 February"
            if only_leap
            else f"has no {ordinal(first)} to fire on in {listed(left or skipped)}{rest}"
        )
        yield self.at_entry(
            subject,
            file,
            entry,
            message,
            "start on the 28th to 31st and test for the last day inside the command, or start on the 1st",
            severity=Severity.NOTE if first == 29 and not only_leap else self.severity,
            evidence="the calendar",
        )
