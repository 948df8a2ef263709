"""C2Q311."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry

_SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/var/lock", "/var/run/lock")


class LockInSharedFolder(EntryRule):
    """The lock file lies in a folder in which every user may make files.

    Why it matters
        Any user can make the file first and hold its lock, so that the job never runs again; with a symbolic link in its
        place root makes the link's target. Where the kernel guards such folders, even root cannot open a file of another
        user there, and each start ends with status 66 instead. Cleaners of /tmp delete the file under a running job.

    What to do
        A folder of the application's own: `/run/lock/APP/NAME.lock`, made by tmpfiles.d with mode 0750, as `convert` does.

    Not flagged
        Subfolders, which belong to somebody. Several of one file are folded into one count.
    """

    code = "C2Q311"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "*/5 * * * * root flock -n /tmp/import.lock /opt/import.sh\n",
        "*/5 * * * * root flock -n /run/lock/i.lock /opt/import.sh\n",
    )
    good = (
        "*/5 * * * * root flock -n /run/lock/shop/import.lock /opt/import.sh\n",
        Example("*/5 * * * * root flock -n /opt/import.sh /opt/import.sh\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """/tmp and its like are worse than /run/lock, which only the host's own users reach."""
        for lock in locks_of(entry.command):
            folder = (lock.file or "").rpartition("/")[0]
            if folder in _SHARED:
                yield self.at_entry(
                    subject,
                    file,
                    entry,
                    f"the lock file lies in {folder}, where every user may make it first and stop the job",
                    "use a folder of the application's own: /run/lock/APP/NAME.lock",
                    severity=Severity.NOTE if folder.endswith("lock") else self.severity,
                    evidence=f"{folder} is writable by every user",
                )
                return

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """One count a file."""
        message = f"{count(len(findings), 'lock file')} in folders where every user may make them first and stop the jobs"
        return message, findings[0].remedy
