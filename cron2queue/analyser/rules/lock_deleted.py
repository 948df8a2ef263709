"""C2Q312."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.invocations import invocations
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.crontab.lines import CrontabFile, Entry


class LockDeleted(EntryRule):
    """The command deletes the file that it locks, and with it the lock.

    Why it matters
        A lock belongs to the file, not to its name. After `rm` the next start makes a new file of the same name, locks that,
        and runs beside the first.

    What to do
        Leave the lock file where it is; it is empty and harms nobody.

    Not flagged
        Other files that are deleted.
    """

    code = "C2Q312"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = ("*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php; rm -f /run/lock/shop/i.lock\n",)
    good = (
        "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php; rm -f /var/www/shop/var/import.tmp\n",
        Example("*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """`rm` and `unlink` of a lock's own file."""
        files = {lock.file for lock in locks_of(entry.command) if lock.file}
        if not files:
            return
        for each in invocations(entry.command):
            hit = files & set(each.words) if each.program in ("rm", "unlink") else set()
            if hit:
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    f"{min(hit)} is deleted, and with it the lock: the next start runs beside this one",
                    "leave the lock file where it is",
                    evidence="a lock belongs to the file, not to its name",
                )
                return
