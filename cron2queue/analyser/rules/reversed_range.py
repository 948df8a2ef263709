"""C2Q202."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.fields import NAMES, reversed_ranges
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import Example, ScheduleRule, Subject
from cron2queue.analyser.timing import is_dead
from cron2queue.crontab.lines import CrontabFile, Entry

_SPELLED = {"day of week": {"sat-sun": "6,0", "fri-sun": "5,6,0", "fri-mon": "5,6,0,1", "6-0": "6,0"}}
_TOP = {"minute": (0, 59), "hour": (0, 23), "day of month": (1, 31), "month": (1, 12)}


def _forward(name: str, text: str) -> str:
    known = _SPELLED.get(name, {}).get(text.lower())
    low, _, high = text.partition("/")[0].partition("-")
    if known is None and name in _TOP and "/" not in text and low.isdigit() and high.isdigit():
        least, most = _TOP[name]
        return f"{low}-{most},{least}-{high}".replace(f"{most}-{most}", str(most)).replace(f"{least}-{least}", str(least))
    return known or "a list of the values"


class ReversedRange(ScheduleRule):
    """A range that runs backwards is accepted, and names nothing at all.

    Why it matters
        `22-4` and `fri-mon` look like "through the night" and "over the weekend". The vixie family of daemons counts
        upwards from the first value, is past the last at once, and takes nothing. Nobody is told.

    What to do
        Write the two halves as a list: `22-23,0-4`, `5,6,0,1`.

    Not flagged
        BusyBox, which wraps around as people expect, and daemons that refuse such a line (see `malformed-line`).
    """

    code = "C2Q202"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    dialects = frozenset({"debian", "cronie", "freebsd"})
    bad = (
        "0 22-4 * * * root /usr/local/bin/night\n",
        "0 9 * * fri-mon root /usr/local/bin/weekend\n",
        "0 1-5,22-20 * * * root /bin/x\n",
    )
    good = (
        "0 22-23,0-4 * * * root /usr/local/bin/night\n",
        "0 9 * * mon-fri root /usr/local/bin/week\n",
        Example("0 22-4 * * * night\n", dialect="busybox", kind="user", path="/var/spool/cron/crontabs/root"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Each range that runs backwards."""
        dead = is_dead(entry.schedule)
        for index, text in reversed_ranges(entry.schedule_text):
            if dead or file.dialect != "cronie" or index != 4:
                yield self._told(subject, file, entry, index, text)

    def _told(self, subject: Subject, file: CrontabFile, entry: Entry, index: int, text: str) -> Finding:
        dead = is_dead(entry.schedule)
        head = "never fires" if dead else "a part of the schedule is empty"
        return self.at_entry(
            subject,
            file,
            entry,
            f"{head}: the {NAMES[index]} range {text} runs backwards and names nothing",
            f"write {_forward(NAMES[index], text)} instead of {text}",
            severity=Severity.ERROR if dead else Severity.WARNING,
            evidence=f"{daemon(file.dialect).title} accepts the range and takes no value from it",
            column=1 + entry.raw.decode("utf-8", "surrogateescape").find(text),
            detail=text,
        )
