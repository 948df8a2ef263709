"""C2Q208."""

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta

from cron2queue.analyser.clockchanges import Effect, effects
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.timing import calendar_of, is_dead
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.crontab.schedule import Calendar

ALL_HOURS = 0xFFFFFF
OFTEN = 6
_MAKES_UP = "nothing, where its other starts of the day make up for it"


class ClockChange(ScheduleRule):
    """The entry stands in the hour that is skipped in spring or comes twice in autumn.

    Why it matters
        What then happens differs from daemon to daemon: Debian's cron and cronie run fixed times of the skipped hour right
        after it, once; lines with a `*` in minute or hour follow the clock, so that `*/15 2 * * *` does not run at all on
        that day, and eight times in autumn. BusyBox skips and doubles. A systemd timer skips.

    What to do
        Move the entry out of the hour (in most of Europe 02:00 to 02:59, in North America 01:00 to 02:59) if one run too
        few or too many would hurt; otherwise know that it copes.

    Not flagged
        Entries that run in every hour, zones without clock changes, and entries that do not run on the day of the change.
        A note only, where the daemon starts each named minute exactly once, or where the entry runs in six hours of the day
        or more. Several notes of one file are folded into one count.
    """

    code = "C2Q208"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "30 2 * * * root /opt/backup.sh\n",
        "*/15 2 * * * root /opt/a.sh\n",
        "30 */2 * * * root /opt/a.sh\n",
        Example("30 2 * * * /opt/backup.sh\n", dialect="busybox", kind="user", path="/var/spool/cron/crontabs/root"),
    )
    good = (
        "30 3 * * * root /opt/backup.sh\n",
        "*/5 * * * * root /opt/a.sh\n",
        "30 2 * * 3 root /opt/a.sh\n",
        Example("30 2 * * * root /opt/backup.sh\n", zone="UTC"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Told from the fires around the next changes, with their dates."""
        calendar = calendar_of(entry)
        if calendar is None or calendar.hours == ALL_HOURS or is_dead(calendar):
            return
        found = effects(calendar, subject.zone, subject.at)
        told = [words for effect in found if (words := _told(effect, calendar))]
        if not told:
            return
        changed = any(effect.skipped or effect.doubled for effect in found)
        title = daemon(file.dialect).title
        yield self.at_entry(
            subject,
            file,
            entry,
            f"in the hour of the clock change: {title} {'; '.join(told)}",
            _remedy(calendar, title, changed=changed),
            severity=self.severity if changed and not _often(calendar) else Severity.NOTE,
            evidence=f"{title}'s own rule, in {calendar.zone or subject.zone}",
        )

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str] | None:
        """Notes of one file are one count; each warning stands for itself."""
        if findings[0].severity is Severity.WARNING:
            return None
        makes_up = sum(finding.remedy == _MAKES_UP for finding in findings)
        still = "each still started once" if not makes_up else f"{makes_up} of them with other starts on that day"
        remedy = findings[0].remedy if not makes_up else _MAKES_UP
        return f"{count(len(findings), 'entry')} in the hour of the clock change, {still}", remedy


def _often(calendar: Calendar) -> bool:
    """One start too few or too many among those of a day matters little."""
    return calendar.hours.bit_count() >= OFTEN


def _remedy(calendar: Calendar, title: str, *, changed: bool) -> str:
    if not changed:
        return f"nothing: {title} copes; another daemon or a timer may not"
    return _MAKES_UP if _often(calendar) else "move it out of that hour"


def _told(effect: Effect, calendar: Calendar) -> str | None:
    """What is not plain about this change; an autumn hour in which everything runs once is plain."""
    day, named = effect.named[0].strftime("%d %b %Y").lstrip("0"), len(effect.named)
    if effect.change.forward or effect.skipped:
        if effect.skipped == named:
            midnight = datetime.combine(effect.named[0], time())
            also = len(calendar.minutes_between(midnight, midnight + timedelta(days=1))) > named
            return f"leaves out {_clock(effect.named[0])}{_more(named - 1)} on {day}" if also else f"does not run it on {day}"
        first = effect.fires[0]
        left = f", and leaves out {effect.skipped} more" if effect.skipped else ""
        return f"runs {_clock(first[1])} at {_clock(first[0])} on {day}{left}"
    if effect.doubled:
        return f"runs it {len(effect.fires)} times instead of {named} on {day}"
    return None


def _more(number: int) -> str:
    return f" and {number} more" if number else ""


def _clock(moment: datetime) -> str:
    return moment.strftime("%H:%M")
