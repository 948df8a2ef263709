"""C2Q312."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Severity
from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.invocations import Invocation, invocations
from cron2queue.analyser.rule import Example, Rule, Subject

_DELETERS = ("rm", "unlink", "find", "tmpreaper", "tmpwatch")


def _patterns(each: Invocation) -> list[str]:
    """What it deletes, as patterns of paths: `rm /a/*.lock`, `find /a -name '*.lock' -delete`."""
    words = [word for word in each.words if not word.startswith("-")]
    if each.program in ("rm", "unlink"):
        return [word for word in words if word.startswith("/")]
    if each.program != "find" or not {"-delete", "-exec"} & set(each.words):
        return []
    names = [each.words[at + 1] for at, word in enumerate(each.words[:-1]) if word in ("-name", "-iname")]
    folders = [word for word in words if word.startswith("/")]
    return [f"{folder.rstrip('/')}/*{name}" for folder in folders for name in names] or [f for f in folders if "*" in f]


class LockDeleted(Rule):
    """A lock's file is deleted, and with it the lock.

    Why it matters
        A lock belongs to the file, not to its name. After `rm` the next start makes a new file of the same name, locks that,
        and runs beside the first. The same goes for an entry that cleans up old lock files.

    What to do
        Leave the lock files where they are; they are empty and harm nobody.

    Not flagged
        Other files that are deleted.
    """

    code = "C2Q312"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php; rm -f /run/lock/shop/i.lock\n",
        "* * * * * root flock -n /tmp/a.lock /opt/a.sh\n*/30 * * * * root find /tmp/*.lock -mmin +360 -delete\n",
        "* * * * * root flock -n /tmp/a.lock /opt/a.sh\n0 4 * * * root find /tmp -name '*.lock' -mtime +1 -delete\n",
    )
    good = (
        "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php; rm -f /var/www/shop/var/import.tmp\n",
        Example("* * * * * root flock -n /run/a.lock /opt/a.sh\n0 4 * * * root find /tmp -name '*.tmp' -delete\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """What each entry deletes, looked up among the lock files of the same host and folder."""
        deleters = [each for each in subject.entries if _may_delete_lock(each[1].command)]
        if not deleters:
            return
        locks: dict[tuple[str, str], set[str]] = {}
        for (file, _), taken in zip(subject.entries, subject.readings.locks, strict=True):
            for lock in filter(None, taken):
                locks.setdefault((host_of(file), lock.rpartition("/")[0]), set()).add(lock)
        for file, entry in deleters:
            patterns = [pattern for each in invocations(entry.command) for pattern in _patterns(each)]
            hit = next((path for pattern in patterns if (path := _hit(locks, host_of(file), pattern))), None)
            if hit is not None:
                message = f"{hit} is deleted, and with it the lock: the next start runs beside a live one"
                yield self.at_entry(subject, file, entry, message, "leave the lock file where it is", evidence=_WHY)


def _may_delete_lock(command: str) -> bool:
    return "lock" in command.lower() and any(name in command for name in _DELETERS)


_WHY = "a lock belongs to the file, not to its name"
_MOST = 200


def _hit(locks: Mapping[tuple[str, str], set[str]], host: str, pattern: str) -> str | None:
    """The first lock file of the host that the pattern names."""
    there = locks.get((host, pattern.rpartition("/")[0]), set())
    if pattern in there:
        return pattern
    return next((path for path in sorted(there)[:_MOST] if fnmatchcase(path, pattern)), None) if "*" in pattern else None
