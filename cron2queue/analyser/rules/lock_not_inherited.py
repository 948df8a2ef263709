"""C2Q313."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.crontab.lines import CrontabFile, Entry


class LockNotInherited(EntryRule):
    """`flock -o` keeps the lock in flock alone: when flock is killed, the job runs on without it.

    Why it matters
        Without `-o` the running job holds the lock itself, so that it stays held whatever happens to flock. With it, a kill
        of flock (by the kernel for want of memory, or by hand) frees the lock under a live job, and the next start runs
        beside it.

    What to do
        Leave `-o` out. Where it was added because a background process kept the lock, make that a service.

    Not flagged
        flock without `-o` and `--close`.
    """

    code = "C2Q313"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = ("*/5 * * * * www-data flock -n -o /run/lock/shop/i.lock php /x/import.php\n",)
    good = (Example("*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php -o out\n"),)

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The options of flock itself."""
        for lock in locks_of(entry.command):
            wrapper = lock.invocation.wrapped_by("flock")
            if wrapper is not None and wrapper.has("-o", "--close"):
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    "flock -o: when flock is killed, the job runs on without the lock",
                    "leave -o out",
                    evidence="flock(1): the lock is closed before the command runs",
                )
                return
