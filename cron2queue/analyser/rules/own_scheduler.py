"""C2Q318."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.schedulers import RUN_PARTS, WORKERS, known_scheduler
from cron2queue.analyser.timing import MINUTE, shortest_gap
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.durations import duration


class OwnScheduler(EntryRule):
    """The line starts an application's own scheduler, which decides itself what is due.

    Why it matters
        Magento, Laravel, WordPress, Drupal, TYPO3, Nextcloud and others hang all their jobs on one cron line. Queueing that
        line would put a scheduler into a queue: its jobs, not itself, are what may belong there.

    What to do
        Leave it in cron, with a lock where the application has none of its own, and look at the jobs inside. A queue's worker
        (`messenger:consume`, `queue:work`) is a service.

    Not flagged
        run-parts, which only runs a folder's scripts.
    """

    code = "C2Q318"
    severity = Severity.NOTE
    confidence = Confidence.INFERRED
    bad = (
        "* * * * * www-data cd /var/www/shop && php bin/magento cron:run\n",
        "* * * * * www-data php /var/www/app/artisan schedule:run >> /dev/null 2>&1\n",
        "0 0 * * * www-data php /var/www/app/artisan schedule:run\n",
        "*/5 * * * * www-data php -f /var/www/nextcloud/cron.php\n",
        "*/5 * * * * www-data php /var/www/app/artisan queue:work --stop-when-empty\n",
        "*/15 * * * * www-data wget -q -O - https://blog.example.com/wp-cron.php?doing_wp_cron\n",
    )
    good = (
        "17 * * * * root cd / && run-parts --report /etc/cron.hourly\n",
        Example("*/5 * * * * www-data php /x/import.php\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """By the programs and words that these applications document."""
        known = known_scheduler(entry.command)
        if known is None or known is RUN_PARTS:
            return
        gap = shortest_gap(entry)
        if known.every is not None and gap is not None and gap > known.every:
            due = f"{known.name} is to be started every {duration(known.every)}, and starts every {duration(gap)}"
            message = f"{due}: what is due in between is missed"
            remedy = "write * * * * *" if known.every == MINUTE else f"start it every {duration(known.every)}"
            yield self.at_entry(
                subject, file, entry, message, remedy, severity=Severity.WARNING, evidence="the application's own documentation"
            )
        else:
            yield self.at_entry(
                subject,
                file,
                entry,
                f"{known.name}: a worker, started by cron"
                if known in WORKERS
                else f"a scheduler of its own ({known.name}): keep it in cron, do not queue it",
                known.advice,
                evidence=f"the command that the application documents for its {'worker' if known in WORKERS else 'cron line'}",
            )
