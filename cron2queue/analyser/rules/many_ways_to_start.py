"""C2Q503."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.host import OtherStart
from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.invocations import main_invocation
from cron2queue.analyser.naming import script_and_arguments
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.sameness import meaning
from cron2queue.crontab.lines import CrontabFile, Entry

Way_ = tuple[CrontabFile, Entry]


class ManyWaysToStart(Rule):
    """One job can start in several ways: other lines, users, files and hosts, cron.daily, systemd timers.

    Why it matters
        A lock on one line does not hold against the others. Two lines for one script, "every five minutes" and "at night with
        --full", meet each night; a package's timer does what the old line does, a second time.

    What to do
        One lock that all ways take, as the remedy names it; or keep one way and delete the others.

    Not flagged
        The same command at the same moments (see `duplicate-entry`), and ways that take the same lock already. Programs with
        different words are different jobs.
    """

    code = "C2Q503"
    severity = Severity.NOTE
    confidence = Confidence.PROVEN
    bad = (
        "*/5 * * * * www-data php /x/import.php\n0 3 * * * root php /x/import.php\n",
        Example(
            "0 5 * * 0 root certbot renew -q\n",
            host={"starts": (OtherStart(origin="systemd timer", name="certbot.timer", command="/usr/bin/certbot -q renew"),)},
        ),
    )
    _locked = "www-data flock -w 600 /run/lock/shop/i php /x/import.php\n"
    good = (
        "*/5 * * * * www-data php /x/import.php\n0 3 * * * www-data php /x/export.php\n",
        f"*/5 * * * * {_locked}0 3 * * * {_locked}",
        Example("0 3 * * * root /opt/report.sh de\n0 4 * * * root /opt/report.sh at\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Groups by what is run; each group once, at its first line."""
        starts = subject.host.starts if subject.host else ()
        by_program, read = _by_program(starts), subject.readings
        often = Counter(read.keys)
        groups: dict[int, list[int]] = {}
        for at, ((file, entry), job) in enumerate(zip(subject.entries, read.keys, strict=True)):
            if (often[job] > 1 or by_program) and entry.command.strip() and file.loaded and file.editable:
                groups.setdefault(job, []).append(at)
        for group in groups.values():
            places = [subject.entries[at] for at in group]
            others = _same_program(places[0][1], by_program) if by_program else []
            if _distinct(places) + len(others) > 1 and not _one_lock(places, others):
                yield self._told(subject, read.names[group[0]], places, others)

    def _told(self, subject: Subject, name: str, places: Sequence[Way_], others: Sequence[OtherStart]) -> Finding:
        (file, entry), *more = places
        ways = [_way(file, each, other) for each, other in more[:6]] + [f"{each.origin} {each.name}" for each in others[:4]]
        hosts = {host_of(each) for each, _ in places}
        lock = (
            f"flock -n /run/lock/cron2queue/{name}.lock in each" if len(hosts) == 1 else "a lock in the database, or one queue"
        )
        return self.at_entry(
            subject,
            file,
            entry,
            f"{name} can start in {len(places) + len(others)} ways: here, {', '.join(ways)}",
            f"one lock that covers them all: {lock}; or keep one way",
            severity=Severity.WARNING if others else self.severity,
            evidence="the same program with the same words",
            related=tuple(Place(path=each.path, line=other.number) for each, other in more[:20]),
        )


def _way(here: CrontabFile, file: CrontabFile, entry: Entry) -> str:
    where = f"line {entry.number}" + (f" of {file.path}" if file.path != here.path else "")
    return f"{where} as {entry.user}" if entry.user else where


def _distinct(places: Sequence[Way_]) -> int:
    """Ways that differ in their moments, user or host; equal ones are duplicates, told elsewhere."""
    return len({(host_of(file), entry.user, meaning(entry.schedule)) for file, entry in places})


def _one_lock(places: Sequence[Way_], others: Sequence[OtherStart]) -> bool:
    if others or len({host_of(file) for file, _ in places}) > 1:
        return False
    files = [{lock.file for lock in locks_of(entry.command) if lock.file} for _, entry in places]
    return bool(set.intersection(*files))


def _program(command: str) -> str | None:
    main = main_invocation(command)
    if main is None:
        return None
    script, _ = script_and_arguments(main)
    name = script.rpartition("/")[2]
    return name if len(name) > 3 and name not in _TOO_COMMON else None


_COMMON_NAMES = "find rsync mysql curl wget php python3 perl bash true test echo logger chmod chown systemctl service run-parts"
_TOO_COMMON = frozenset(_COMMON_NAMES.split())


def _by_program(starts: Sequence[OtherStart]) -> dict[str, list[OtherStart]]:
    """Other ways by the names of the programs that their commands start."""
    found: dict[str, list[OtherStart]] = {}
    for each in starts:
        for line in each.command.replace(";", "\n").splitlines()[:2000]:
            name = _program(line.strip()) if line.strip() and not line.lstrip().startswith("#") else None
            if name is not None and each not in found.setdefault(name, []):
                found[name].append(each)
    return found


def _same_program(entry: Entry, by_program: dict[str, list[OtherStart]]) -> list[OtherStart]:
    name = _program(entry.command)
    return by_program.get(name, []) if name is not None else []
