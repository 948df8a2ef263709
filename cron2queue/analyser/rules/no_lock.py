"""C2Q307."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import holds_lock
from cron2queue.analyser.naming import job_name
from cron2queue.analyser.rule import ALL, EntryRule, Example, Subject
from cron2queue.analyser.schedulers import known_scheduler
from cron2queue.analyser.timing import MINUTE, Duration, known_duration, shortest_gap
from cron2queue.analyser.trades import MAIL, PAYMENT, QUEUE, TRANSFER, trade_of
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration

# Trades in which two copies at once do harm whatever the program; of others it is a guess.
_SURELY = (PAYMENT, MAIL, QUEUE, TRANSFER)
SHORT = 15 * MINUTE


class NoLock(EntryRule):
    """An entry starts again after a short time, and no lock keeps a slow run and the next apart.

    Why it matters
        Cron does not look whether the last run has ended. When the database is slow for ten minutes, an import that starts
        every five runs twice on the same rows, then three times, and the pile makes everything slower still.

    What to do
        `flock -n -E 75 /run/lock/cron2queue/NAME.lock COMMAND`: the second start ends at once. `convert` writes it.

    Not flagged
        Intervals above 15 minutes without evidence of long runs; jobs that only look, clean or watch; schedulers with locks
        of their own; daemons that never start a second copy (BusyBox, systemd-cron). Where evidence says that runs are
        short, too. A run longer than its interval is `self-overlap`.
    """

    code = "C2Q307"
    severity = Severity.WARNING
    confidence = Confidence.INFERRED
    dialects = ALL - {"busybox", "systemd-cron"}
    bad = (
        "*/5 * * * * www-data php /var/www/shop/import_orders.php >> /var/log/i.log 2>&1\n",
        Example(
            "0 * * * * www-data php /var/www/shop/feed.php >> /var/log/f.log\n",
            evidence={1: {"median_seconds": 1500.0, "p95_seconds": 2900.0, "max_seconds": 3300.0}},
        ),
    )
    good = (
        "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /var/www/shop/import_orders.php\n",
        "* * * * * www-data php /var/www/shop/artisan schedule:run\n",
        "0 3 * * * www-data php /var/www/shop/import_orders.php\n",
        "5-55/10 * * * * root command -v debian-sa1 > /dev/null && debian-sa1 1 1\n",
        Example(
            "*/5 * * * * www-data php /var/www/shop/import_orders.php\n",
            evidence={1: {"median_seconds": 2.0, "p95_seconds": 4.0, "max_seconds": 9.0}},
        ),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """With evidence the longest run decides, without it the trade that the command's name tells."""
        gap = shortest_gap(entry)
        if gap is None or holds_lock(entry.command):
            return
        known = known_duration(subject, file, entry)
        if known is not None:
            if gap / 2 < known.long <= gap:
                yield self._nearly(subject, file, entry, gap, known)
            return
        trade, scheduler = trade_of(entry.command), known_scheduler(entry.command)
        if gap > SHORT or (scheduler and not scheduler.guard) or not (scheduler or (trade and trade.clashes)):
            return
        what = scheduler.name if scheduler else trade.name if trade else ""
        yield self.at_entry(
            subject,
            file,
            entry,
            f"started every {duration(gap)} with no lock: a slow run and the next work side by side",
            f"flock -n -E 75 /run/lock/cron2queue/{job_name(entry.command)}.lock COMMAND (convert does it)",
            severity=self.severity if trade in _SURELY and not scheduler else Severity.NOTE,
            evidence=f"its name says that it {what}" if not scheduler else f"{what}, which takes no lock of its own",
        )

    def _nearly(self, subject: Subject, file: CrontabFile, entry: Entry, gap: float, known: Duration) -> Finding:
        return self.at_entry(
            subject,
            file,
            entry,
            f"runs take up to {known.words}, the next start comes after {duration(gap)}, and no lock keeps them apart",
            f"flock -n -E 75 /run/lock/cron2queue/{job_name(entry.command)}.lock COMMAND (convert does it)",
            confidence=known.confidence,
            evidence=f"{known.source}; {daemon(file.dialect).title} starts the second copy",
        )
