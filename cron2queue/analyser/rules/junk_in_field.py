"""C2Q211."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.fields import NAMES, five_fields
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.templates import is_template_head
from cron2queue.analyser.timing import calendar_of
from cron2queue.analyser.wording import values
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.expressions import regex

_ITEM = r"(?:\*|[0-9]+|[A-Za-z]{3,9})(?:-(?:[0-9]+|[A-Za-z]{3,9}))?(?:/[0-9]+)?"
_FIELD = regex(rf"{_ITEM}(?:,{_ITEM})*")


class JunkInField(ScheduleRule):
    """Text in a schedule field that the daemon passes over without a word.

    Why it matters
        Debian's and FreeBSD's cron stop reading a value where it no longer fits and ignore the rest: `5#3`, "the third
        Friday" elsewhere, is every Friday; `*5` is every minute; `0~30` is minute 0; `mon–fri` with a long dash is Monday.

    What to do
        Write what is meant in the daemon's own language: lists, ranges, steps.

    Not flagged
        Daemons that refuse such a field (see `malformed-line`) or know the notation.
    """

    code = "C2Q211"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    dialects = frozenset({"debian", "freebsd"})
    bad = (
        "0 0 * * 5#3 root /opt/a.sh\n",
        "*5 * * * * root /opt/a.sh\n",
        "0~30 4 * * * root /opt/a.sh\n",
        "0 9 * * mon–fri root /opt/a.sh\n",
    )
    good = ("*/5 1-3,7 1,15 jan-mar mon-fri root /opt/a.sh\n", Example("0 0 * * Fri root /opt/a.sh\n"))

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Each field with something that is neither list, range nor step."""
        calendar = calendar_of(entry)
        if calendar is None or is_template_head(entry.schedule_text):
            return
        sets = (calendar.minutes, calendar.hours, calendar.days, calendar.months, calendar.weekdays)
        for index, field in enumerate(five_fields(entry.schedule_text) or ()):
            if not _FIELD.fullmatch(field):
                column = entry.raw.decode("utf-8", "surrogateescape").find(field) + 1
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    f"{field} in the {NAMES[index]} means {values(index, sets[index])} to {daemon(file.dialect).title}",
                    "write it with lists, ranges and steps only",
                    severity=Severity.WARNING if "~" in field else self.severity,
                    evidence="it stops reading where the text no longer fits, and ignores the rest",
                    column=column,
                    detail=NAMES[index],
                )
