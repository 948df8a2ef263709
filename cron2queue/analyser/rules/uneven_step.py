"""C2Q204."""

from collections.abc import Iterator

from cron2queue.analyser.fields import NAMES, steps
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import ScheduleRule, Subject
from cron2queue.analyser.timing import calendar_of, is_dead
from cron2queue.crontab.lines import CrontabFile, Entry

_UNITS = ("minute", "hour", "day", "month", "day")
_NEXT = ("full hour", "day", "month", "year", "week")
# The ends of whole fields as they are written; a week may begin with Sunday or Monday, and end with either.
_WHOLE = (frozenset({(0, 59)}), frozenset({(0, 23)}), frozenset({(1, 31)}), frozenset({(1, 12)}), frozenset({(0, 6), (1, 7)}))
_EVEN = {60: "1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30", 24: "1, 2, 3, 4, 6, 8 or 12", 12: "1, 2, 3, 4 or 6"}


class UnevenStep(ScheduleRule):
    """A step that is no interval: counting begins anew with each hour, day, week or month.

    Why it matters
        `*/7` in the minutes is not "every 7 minutes" but :00, :07 ... :56, and then :00 again, 4 minutes later. `*/90` is
        not "every 90 minutes" but once an hour. A job sized for the longer gap meets itself in the shorter.

    What to do
        Use a step that divides the field: for minutes 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30. For other intervals let the
        job itself look at the time of its last run.

    Not flagged
        Steps that divide the field, and steps over part of a field, such as `8-18/3`. A note only up to half of the field.
    """

    code = "C2Q204"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        "*/7 * * * * root /opt/a.sh\n",
        "*/90 * * * * root /opt/a.sh\n",
        "*/45 * * * * root /opt/a.sh\n",
        "0 */5 * * * root /opt/a.sh\n",
        "0 3 */2 * * root /opt/a.sh\n",
        "0 3 * * */2 root /opt/a.sh\n",
        "0-59/7 * * * * root /opt/a.sh\n",
    )
    good = (
        "*/5 * * * * root /opt/a.sh\n",
        "*/60 * * * * root /opt/a.sh\n",
        "0 */6 * * * root /opt/a.sh\n",
        "0 8-18/3 * * * root /opt/a.sh\n",
        "0 3 * * */7 root /opt/a.sh\n",
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Each uneven step over a whole field."""
        if "/" not in entry.schedule_text or is_dead(entry.schedule):
            return
        for index, text, low, high, step in steps(entry.schedule_text):
            told = self._told(entry, index, text, high - low + 1, low, step) if _is_whole(index, text, low, high) else None
            if told is not None:
                message, remedy, severity = told
                column = 1 + entry.raw.decode("utf-8", "surrogateescape").find(text)
                evidence = f"a step counts within its field: the {NAMES[index]} begins anew with each {_NEXT[index]}"
                yield self.at_entry(
                    subject, file, entry, message, remedy, severity=severity, column=column, evidence=evidence, detail=text
                )

    def _told(self, entry: Entry, index: int, text: str, size: int, low: int, step: int) -> tuple[str, str, Severity] | None:
        calendar, unit = calendar_of(entry), _UNITS[index]
        if calendar is None or step < 2:
            return None
        if index == 2 or (index == 4 and step < size):
            return (
                f"{text} is no interval of {step} days: it begins anew each {_NEXT[index]}, so that the gap at its end differs",
                "if the interval matters, count the days inside the command",
                Severity.NOTE,
            )
        if step > size:
            message = f"{text} is no interval of {step} {unit}s: it names {NAMES[index]} {low} only"
            return message, f"write {low}, or another interval", Severity.WARNING
        if size % step == 0:
            return None
        last = low + (size - 1) // step * step
        whole = _NEXT[index].removeprefix("full ")
        message = f"{text} is no even interval: the last gap of each {whole} is {size + low - last} {unit}s"
        return (
            message,
            f"use a step of {_EVEN.get(size, 'an even part')} {unit}s",
            Severity.WARNING if step * 2 > size else Severity.NOTE,
        )


def _is_whole(index: int, text: str, low: int, high: int) -> bool:
    return text.startswith("*") or (low, high) in _WHOLE[index]
