"""C2Q323."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.services import is_service
from cron2queue.crontab.lines import CrontabFile, Entry
from cron2queue.crontab.schedule import AtReboot


class DaemonAtReboot(EntryRule):
    """@reboot starts a program that is to run for ever: a service.

    Why it matters
        Cron starts it once and forgets it. When it ends, it stays ended until the next boot; nobody orders it after the
        network and the database; FreeBSD's and OpenBSD's cron start it again whenever the daemon itself is restarted.

    What to do
        A systemd unit with `Restart=on-failure`; `convert` proposes one.

    Not flagged
        @reboot lines that do something once.
    """

    code = "C2Q323"
    severity = Severity.NOTE
    confidence = Confidence.INFERRED
    bad = ("@reboot www-data node /var/www/shop/ws.js &\n", "@reboot deploy nohup /opt/app/worker.sh > /dev/null 2>&1\n")
    good = ("@reboot root /opt/mount-backup.sh\n", Example("*/5 * * * * www-data php /x/poll.php\n"))

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """Sent to the background, or named like a server."""
        if isinstance(entry.schedule, AtReboot) and is_service(entry.command):
            yield self.at_entry(
                subject,
                file,
                entry,
                "@reboot starts a daemon: when it ends, it stays ended until the next boot",
                "a systemd service with Restart=on-failure",
                evidence="it goes to the background, or its name says that it serves or listens",
            )
