"""C2Q310."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.rule import ALL, EntryRule, Example, Subject
from cron2queue.analyser.timing import HOUR, shortest_gap
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration

SHORT = 6 * HOUR


class LockWaits(EntryRule):
    """The lock waits for ever: each start that finds it taken leaves one more process in line.

    Why it matters
        Without `-n`, flock waits. When one run hangs, every later start waits behind it, hundreds of them by the morning,
        and when it ends they all run one after another, without a pause.

    What to do
        `flock -n -E 75 FILE`: the start ends at once, with a status of its own. Or `-w SECONDS`, below the interval.

    Not flagged
        Locks with `-n` or `-w`, intervals of six hours or more, where waiting for another job may be meant, and daemons that
        never start a second copy (BusyBox, systemd-cron), under which nothing queues up.
    """

    code = "C2Q310"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    dialects = ALL - {"busybox", "systemd-cron"}
    bad = (
        "*/5 * * * * www-data flock /run/lock/shop/i.lock php /x/import.php\n",
        "*/5 * * * * www-data ( flock 9; php /x/import.php ) 9> /run/lock/shop/i.lock\n",
    )
    good = (
        "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php\n",
        Example("*/5 * * * * www-data flock /run/lock/shop/i.lock php /x/import.php\n", dialect="systemd-cron"),
        "*/5 * * * * www-data flock -w 30 /run/lock/shop/i.lock php /x/import.php\n",
        Example("0 3 * * * root flock /run/lock/shop/nightly.lock /opt/backup.sh\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The first lock that waits."""
        gap = shortest_gap(entry)
        if gap is None or gap >= SHORT or any(lock.skips for lock in locks_of(entry.command)):
            return
        for lock in locks_of(entry.command)[:1]:
            yield self.at_entry(
                subject,
                file,
                entry,
                f"{lock.tool} waits for ever: while one run hangs, a process more waits every {duration(gap)}",
                "flock -n -E 75 FILE COMMAND" if lock.tool == "flock" else f"let {lock.tool} give up at once",
                evidence="flock(1): without -n or -w it waits",
            )
