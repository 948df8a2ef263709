"""C2Q109."""

from collections.abc import Iterator

from cron2queue.analyser.causes import COMMANDS, USER_COLUMN, blast, lines_of_cause, refused_user
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.crontab.lines import CrontabFile, Entry, Kind

_USER_NAMES = """
    root www-data nobody daemon apache nginx postgres ubuntu ec2-user vagrant munin nagios zabbix jenkins tomcat asterisk
    zimbra elasticsearch httpd www
"""
USERS = frozenset(_USER_NAMES.split())


class UserColumn(Rule):
    """A system crontab without the user, or a user's own crontab with one.

    Why it matters
        /etc/crontab and /etc/cron.d need a user before the command: without it the first word of the command is taken for a
        user. A user's own crontab has no such column: with it, cron tries to run a program named `root`. BusyBox crond knows
        no such column anywhere.

    What to do
        Add the user in system crontabs; remove it in the user's own. Give `--kind` if the file was taken for the wrong kind.

    Not flagged
        Words that may be either, such as mail, git or mysql.
    """

    code = "C2Q109"
    severity = Severity.ERROR
    confidence = Confidence.INFERRED
    bad = (
        "0 1 * * * /usr/bin/php /x/a.php\n",
        "0 1 * * * echo hi\n",
        Example("0 1 * * * root /opt/backup.sh\n", kind="user", path="/var/spool/cron/crontabs/root"),
        Example("0 1 * * * root /opt/backup.sh\n", dialect="busybox", path="/etc/crontab"),
    )
    good = (
        "0 1 * * * root /usr/bin/php /x/a.php\n",
        Example("0 1 * * * /opt/backup.sh root\n", kind="user", path="/var/spool/cron/crontabs/root"),
        Example("0 1 * * * mysql shop < /opt/a.sql\n", kind="user", path="/var/spool/cron/crontabs/root"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Refused lines first, then entries in which the wrong word was accepted."""
        for file, line in lines_of_cause(subject, USER_COLUMN):
            message = f"no user before the command: {refused_user(line)} stands in its place; {blast(file, line)}"
            yield self.at_line(file, line, message, "write the user before the command", column=line.column)
        for file, entry in subject.entries:
            if file.kind is Kind.SYSTEM and daemon(file.dialect).user_column:
                yield from self._missing(subject, file, entry)
            else:
                yield from self._superfluous(subject, file, entry)

    def _missing(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        known = subject.host.users if subject.host else None
        user = entry.user or ""
        if (user in COMMANDS or "/" in user) and not (known and user in known):
            name = daemon(file.dialect).title
            message = f"no user before the command: {name} takes {user} for the user"
            yield self.at_entry(
                subject, file, entry, message, "write the user before the command", evidence="a known program's name"
            )

    def _superfluous(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        first, _, rest = entry.command.partition(" ")
        knows = daemon(file.dialect).user_column
        who = "a user's own crontab" if knows else daemon(file.dialect).title
        if first in USERS and rest.strip():
            yield self.at_entry(
                subject,
                file,
                entry,
                f"{who} has no user column: cron runs a program named {first}",
                f"remove {first}, or give --kind system"
                if knows
                else f"remove {first}: a crontab is of the user it is named after",
                column=entry.command_column,
                evidence=f"{first} is a user's name on most systems",
            )
