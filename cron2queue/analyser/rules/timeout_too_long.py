"""C2Q309."""

from collections.abc import Iterator

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import holds_lock, time_limit
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.schedulers import known_scheduler
from cron2queue.analyser.timing import shortest_gap
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration


class TimeoutTooLong(EntryRule):
    """The time limit is not shorter than the interval, so that it ends a hung run only after the next start.

    Why it matters
        With a lock, or under a daemon that never starts a second copy, starts are lost while the hung run waits for its
        limit; otherwise runs pile up until then.

    What to do
        A limit below the interval, with room for `-k`: four fifths are a good measure.

    Not flagged
        Limits below the interval, commands without one (see `no-timeout`), and applications' own schedulers, which may work
        longer than their interval.
    """

    code = "C2Q309"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = ("*/5 * * * * www-data timeout 600 php /x/import.php\n", "* * * * * www-data timeout 1m php /x/import.php\n")
    good = (
        "*/5 * * * * www-data timeout -k 10 240 php /x/import.php\n",
        "*/5 * * * * www-data flock -n /run/lock/nc/c timeout 6h php -f /var/www/nextcloud/cron.php\n",
        Example("0 3 * * * root timeout 2h /opt/backup.sh\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Limit against the shortest gap between two starts."""
        limit, gap = time_limit(entry.command), shortest_gap(entry)
        if limit is None or gap is None or limit < gap or limit == 0 or known_scheduler(entry.command):
            return
        beside = daemon(file.dialect).second_copy and not holds_lock(entry.command)
        end = "the next run starts beside it" if beside else "starts are lost meanwhile"
        yield self.at_entry(
            subject,
            file,
            entry,
            f"the time limit of {duration(limit)} is not below the interval of {duration(gap)}: {end}",
            f"timeout -k 10 {max(10, int(gap * 0.8))}",
            evidence="limit and schedule",
        )
