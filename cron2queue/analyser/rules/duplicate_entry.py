"""C2Q502."""

from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.guards import holds_lock
from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.sameness import meaning
from cron2queue.analyser.timing import is_dead
from cron2queue.crontab.lines import CrontabFile, Entry


class DuplicateEntry(Rule):
    """The same command starts twice at the same moments, from two lines that mean the same.

    Why it matters
        Both copies run side by side on the same data. The second line is often written differently (`@daily` and
        `0 0 * * *`), stands in another file, or came with a restored backup, so that nobody sees it.

    What to do
        Delete one of the lines.

    Not flagged
        The same command at other moments (see `many-ways-to-start`), and the same line on another host.
    """

    code = "C2Q502"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "0 0 * * * root /opt/backup.sh\n@daily root /opt/backup.sh\n",
        Example(
            "*/30 * * * * www-data php /x/a.php\n",
            others=(("/etc/cron.d/old", "0,30 * * * * www-data php /x/a.php > /dev/null\n"),),
        ),
    )
    good = (
        "0 0 * * * root /opt/backup.sh\n0 12 * * * root /opt/backup.sh\n",
        "0 0 * * * root /opt/backup.sh a\n0 0 * * * root /opt/backup.sh b\n",
        "0 0 * * * root mysqldump a > /b/a.sql\n0 0 * * * root mysqldump a > /b/b.sql\n",
        "SITE=de\n0 0 * * * root /opt/backup.sh\nSITE=at\n0 0 * * * root /opt/backup.sh\n",
        Example(
            "0 0 * * * root /opt/backup.sh\n",
            path="web1/etc/cron.d/b",
            others=(("web2/etc/cron.d/b", "0 0 * * * root /opt/backup.sh\n"),),
        ),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Compared by what the daemon evaluates, never by text."""
        first_of: dict[int, tuple[CrontabFile, Entry]] = {}
        for (file, entry), job in zip(subject.entries, subject.readings.keys, strict=True):
            if is_dead(entry.schedule) or not entry.command.strip():
                continue
            who = (host_of(file), entry.user or file.path)
            key = hash((who, job, entry.stdin, meaning(entry.schedule)))
            before = first_of.setdefault(key, (file, entry))
            if before[1] is not entry:
                yield self._double(subject, file, entry, *before)

    def _double(self, subject: Subject, file: CrontabFile, entry: Entry, other: CrontabFile, first: Entry) -> Finding:
        where = f"line {first.number}" + (f" of {other.path}" if other.path != file.path else "")
        both = "the lock lets only one of them run" if holds_lock(entry.command) else "both copies run side by side"
        if file is other and _may_share_a_timer(file, entry, first):
            both = f"{both}, or are one timer where they are persistent, since its name says only what the line says"
        if not (file.loaded and other.loaded):
            both += " as soon as cron reads both"
        return self.at_entry(
            subject,
            file,
            entry,
            f"duplicate of {where}: the same command at the same moments; {both}",
            "delete one of the two lines",
            evidence=f"{entry.schedule_text} and {first.schedule_text} name the same moments",
            related=(Place(path=other.path, line=first.number),),
        )


def _may_share_a_timer(file: CrontabFile, entry: Entry, first: Entry) -> bool:
    """systemd-cron numbers the timers of a file, but names a persistent one by a digest of its schedule and command."""
    return file.dialect == "systemd-cron" and (entry.schedule_text, entry.command) == (first.schedule_text, first.command)
