"""C2Q308."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import holds_lock, time_limit
from cron2queue.analyser.rule import EntryRule, Subject
from cron2queue.analyser.schedulers import known_scheduler
from cron2queue.analyser.timing import MINUTE, shortest_gap
from cron2queue.analyser.trades import trade_of
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration

SHORT = 15 * MINUTE


class NoTimeout(EntryRule):
    """Nothing ends a run that hangs: with a lock the job stands still for ever, without one the runs pile up.

    Why it matters
        A connection without a time limit, a lock in the database, a full disk: sooner or later a run hangs. Behind
        `flock -n` every later start then ends at once, silently; without a lock each start leaves one more process.

    What to do
        `timeout -k 10 SECONDS COMMAND`, below the interval. `convert` takes the figure from the evidence.

    Not flagged
        Intervals above 15 minutes, commands with `timeout` or a time limit of their own, jobs that only look, clean or
        watch, and applications' own schedulers, which may work longer than their interval. Several entries of one file are
        folded into one count.
    """

    code = "C2Q308"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /var/www/shop/import_orders.php\n",
        "*/2 * * * * www-data php /var/www/shop/send_mails.php\n",
    )
    good = (
        "*/5 * * * * www-data flock -n /run/lock/shop/i.lock timeout -k 10 240 php /var/www/shop/import_orders.php\n",
        "0 2 * * * root /opt/backup.sh\n",
        "* * * * * www-data php /var/www/moodle/admin/cli/cron.php > /dev/null\n",
        "*/5 * * * * root curl -m 30 -s https://shop.example.com/import.php\n",
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Short intervals only; for a nightly job a hang is seen the next day."""
        gap = shortest_gap(entry)
        if gap is None or gap > SHORT or time_limit(entry.command) is not None:
            return
        trade, locked = trade_of(entry.command), holds_lock(entry.command)
        if known_scheduler(entry.command) or not (locked or (trade and trade.clashes)):
            return
        if not daemon(file.dialect).second_copy:
            end = f"{daemon(file.dialect).title} starts it no more"
        else:
            end = "every later start ends at once, silently" if locked else f"every {duration(gap)} one more process stays"
        yield self.at_entry(
            subject,
            file,
            entry,
            f"no time limit: when a run hangs, {end}",
            f"timeout -k 10 {max(10, int(gap * 0.8))} COMMAND (convert does it)",
            evidence="cron never ends a job",
        )

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """One count a file."""
        return (
            f"{count(len(findings), 'entry')} on short intervals without a time limit: a run that hangs is never ended",
            "timeout -k 10 SECONDS COMMAND, below the interval (convert does it)",
        )
