"""C2Q319."""

from collections import Counter
from collections.abc import Iterator

from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Entry


class LockOnOneHost(Rule):
    """The entry stands on several hosts, and its lock works on each of them by itself.

    Why it matters
        A lock file is on one machine. Where the same crontab was copied to a second web server, both run the job at the same
        moment, on the same database.

    What to do
        A lock in the database, or one queue for both hosts: the same key is then worked once.

    Not flagged
        Audits of one host; jobs without a lock, which nobody meant to run alone.
    """

    code = "C2Q319"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    _line = "*/5 * * * * www-data flock -n /run/lock/shop/i.lock php /x/import.php\n"
    bad = (Example(_line, path="web1/etc/cron.d/shop", others=(("web2/etc/cron.d/shop", _line),)),)
    good = (
        Example(_line, path="web1/etc/cron.d/shop"),
        Example(
            "*/5 * * * * www-data /opt/tidy.sh\n",
            path="web1/etc/cron.d/a",
            others=(("web2/etc/cron.d/a", "*/5 * * * * www-data /opt/tidy.sh\n"),),
        ),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """The same programs with the same words, behind a lock, on more than one host."""
        groups: dict[int, dict[str, tuple[CrontabFile, Entry]]] = {}
        if len({host_of(file) for file in subject.files}) < 2:
            return
        read = subject.readings
        often = Counter(read.keys)
        for place, job, locks in zip(subject.entries, read.keys, read.locks, strict=True):
            if locks and often[job] > 1:
                groups.setdefault(job, {}).setdefault(host_of(place[0]), place)
        for places in groups.values():
            if len(places) < 2:
                continue
            (file, entry), *others = places.values()
            names = ", ".join(sorted(host or "this host" for host in places)[:4])
            yield self.at_entry(
                subject,
                file,
                entry,
                f"stands on {count(len(places), 'host')} ({names}), and its lock works on each by itself",
                "a lock in the database, or one queue for all hosts",
                evidence="a lock file is seen on its own machine only",
                related=tuple(Place(path=other.path, line=line.number) for other, line in others[:20]),
            )
