"""C2Q301."""

from collections.abc import Iterator

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.invocations import Invocation, invocations
from cron2queue.analyser.naming import interpreter
from cron2queue.analyser.rule import ALL, EntryRule, Example, Subject
from cron2queue.analyser.templates import template_spans
from cron2queue.crontab.lines import CrontabFile, Entry, Line
from cron2queue.expressions import regex

_BARE_PERCENT = regex(r"(?<!\\)%")


def first_bare_percent(command: str) -> int | None:
    """Where cron cuts the command: the first % that no backslash escapes."""
    at = 0
    while at < len(command):
        if command[at] == "\\":
            at += 2
            continue
        if command[at] == "%":
            return at
        at += 1
    return None


def _first_for_systemd_cron(command: str) -> int | None:
    """The same of systemd-cron, for which the backslash right before it escapes a %, whatever stands before that."""
    bare = _BARE_PERCENT.search(command)
    return bare.start() if bare else None


def _escaped(command: str) -> str:
    parts, at = [], 0
    while at < len(command):
        if command[at] == "\\":
            parts.append(command[at : at + 2])
            at += 2
        else:
            parts.append("\\%" if command[at] == "%" else command[at])
            at += 1
    return "".join(parts)


_READER_NAMES = """
    mail mailx mutt sendmail s-nail cat tee read mysql mariadb psql sqlite3 bc at batch wall write logger xargs passwd chpasswd
    ftp lftp sftp nc telnet wc sort tr crontab gpg openssl patch parallel
"""
_READERS = frozenset(_READER_NAMES.split())
# What stands before a % that was to become a part of a name, a number or a date.
_GLUE = ("+", "=", "-", "_", ".", "/", ":", ",", "@", "#", "$")


def _is_input_on_purpose(before: str) -> bool:
    """`mail -s x root%Dear root,%…`: the command is complete and one of it reads its input, as in crontab(5)'s own example."""
    line = read_command(before)
    if not line.complete or not line.top or (before.endswith(_GLUE) and not before.endswith(" -")):
        return False
    return any(_reads_input(each) for each in invocations(before) if not each.simple.substitution)


def _reads_input(each: Invocation) -> bool:
    """It takes what cron hands to the whole line: behind no pipe, and an interpreter only where it is given no script."""
    if each.simple.before in ("|", "|&") or any(redirect.operator.startswith("<") for redirect in each.simple.redirects):
        return False
    return each.program in _READERS or (interpreter(each) is not None and not any(word[:1] != "-" for word in each.words))


class UnescapedPercent(EntryRule):
    """A % without a backslash ends the command, and the rest becomes its standard input.

    Why it matters
        Cron itself, not the shell, treats % as a line break: everything after the first one never reaches the shell. Quotes
        do not protect it. `dump > /backup/$(date +%F).sql` is run as `dump > /backup/$(date +`, which is a syntax error, so
        that nothing is backed up, often for years.

    What to do
        Write \\% for each %, or move the command into a script. `cron2queue convert` writes it right.

    Not flagged
        A % that is escaped, one inside a template's placeholder, and any % under BusyBox, which does not treat it
        specially. Where the command before the % is complete, and one of it, such as mail, reads its input, it is a note only.
        systemd-cron takes % so from release 2.4 on; release 1.15, as in Debian 12, hands it to the shell.
    """

    code = "C2Q301"
    severity = Severity.ERROR
    confidence = Confidence.PROVEN
    dialects = ALL - {"busybox"}
    bad = (
        "30 2 * * * root mysqldump shop | gzip > /backup/shop-$(date +%F).sql.gz\n",
        "0 4 * * * root tar czf '/backup/$(date +%Y%m%d).tgz' /etc\n",
        Example("* * * * * sleep $((RANDOM % 60)); /usr/local/bin/poll\n", kind="user", path="/var/spool/cron/crontabs/deploy"),
    )
    good = (
        "30 2 * * * root mysqldump shop | gzip > /backup/shop-$(date +\\%F).sql.gz\n",
        "0 4 * * * root /opt/backup.sh\n",
        "0 4 * * * root report --host %{hostname}\n",
        Example("30 2 * * * root date +\\\\%F > /tmp/day\n", dialect="systemd-cron"),
        Example("30 2 * * * date +%F > /tmp/day\n", dialect="busybox", kind="user", path="/var/spool/cron/crontabs/root"),
    )

    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The first bare % of the command as it is written."""
        if "%" not in entry.command_text:
            return
        systemd = file.dialect == "systemd-cron"
        at = _first_for_systemd_cron(entry.command_text) if systemd else first_bare_percent(entry.command_text)
        if at is None or any(start <= at < end for start, end in template_spans(entry.command_text)):
            return
        before = entry.command_text[:at]
        meant = _is_input_on_purpose(before)
        name = daemon(file.dialect).title
        yield self.at_entry(
            subject,
            file,
            entry,
            "the text after % is given to the command as its standard input"
            if meant
            else "unescaped % ends the command; the rest becomes its standard input",
            "if that is meant, leave it; otherwise write \\%" if meant else "write \\% (convert does it)",
            severity=Severity.NOTE if meant else self.severity,
            evidence=f"{name}{' from release 2.4 on' if systemd else ''} hands the shell only: {before.strip()}",
            column=entry.command_column + at,
        )

    def fix(self, line: Line) -> bytes | None:
        """Every bare % gets its backslash."""
        if not isinstance(line, Entry):
            return None
        written = line.command_text.encode("utf-8", "surrogateescape")
        head, found, tail = line.raw.rpartition(written)
        return head + _escaped(line.command_text).encode("utf-8", "surrogateescape") + tail if found else None
