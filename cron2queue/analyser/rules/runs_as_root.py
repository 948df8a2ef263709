"""C2Q316."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.invocations import Invocation, invocations, main_invocation
from cron2queue.analyser.naming import script_and_arguments
from cron2queue.analyser.rule import EntryRule, Example, Subject
from cron2queue.analyser.schedulers import RUN_PARTS, known_scheduler
from cron2queue.crontab.lines import CrontabFile, Entry, Kind
from cron2queue.expressions import regex

_OTHERS = regex(r"/(?:home/[^/\s]+|var/www|srv/www|srv/http|usr/share/nginx|var/lib/www|Users/[^/\s]+)/")


class RunsAsRoot(EntryRule):
    """Root runs a program that lies where another user may change it.

    Why it matters
        Whoever can write to /var/www or /home/deploy, which is the web server, every deployment and every hole in the
        application, has root within a minute. Files that the job makes belong to root besides, and the application cannot
        write them any more.

    What to do
        Name the application's user in the user column, or install the script in a folder of root's own.

    Not flagged
        Root's own programs in /usr, /opt and /root; commands that change the user themselves (su, sudo -u, runuser).
    """

    code = "C2Q316"
    severity = Severity.WARNING
    confidence = Confidence.INFERRED
    bad = (
        "*/5 * * * * root php /var/www/shop/import.php\n",
        "0 3 * * * root cd /home/deploy && ./backup.sh\n",
        "*/5 * * * * root cd /var/www/shop && php import.php > /dev/null\n",
    )
    good = (
        "*/5 * * * * www-data php /var/www/shop/import.php\n",
        "0 3 * * * root /opt/scripts/backup.sh /var/www/shop\n",
        "0 3 * * * root cd /var/www/shop && tar czf /b/shop.tgz .\n",
        Example("*/5 * * * * root su www-data -s /bin/sh -c 'php /var/www/shop/import.php'\n"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The program or script that is run, or the folder that a relative one is run in."""
        root = entry.user == "root" or (file.kind is Kind.USER and file.path.rpartition("/")[2] == "root")
        if not root or "/" not in entry.command or known_scheduler(entry.command) is RUN_PARTS:
            return
        main = main_invocation(entry.command)
        if main is None or main.wrapped_by("su", "sudo", "runuser", "gosu", "setuidgid", "chpst", "ssh", "docker", "podman"):
            return
        script, _ = script_and_arguments(main)
        where = _OTHERS.search(script)
        if where is None and _is_relative(script, main):
            folders = (word for each in invocations(entry.command) if each.program == "cd" for word in each.words)
            where = next((found for folder in folders if (found := _OTHERS.search(f"{folder}/"))), None)
        if where is None:
            return
        yield self.at_entry(
            subject,
            file,
            entry,
            f"root runs a program under {where.group().rstrip('/')}, which others may change",
            "name the application's user in the user column",
            evidence="such folders belong to the application or a user as a rule",
        )


def _is_relative(script: str, main: Invocation) -> bool:
    """A path, or a file that an interpreter is given: looked for where the line has gone to."""
    return not script.startswith(("/", "~", "$", "-")) and ("/" in script or script is not main.path)
