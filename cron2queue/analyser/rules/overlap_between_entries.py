"""C2Q402."""

from collections import Counter
from collections.abc import Iterator

from cron2queue.analyser.chains import chains_of, touched_paths
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.invocations import invocations
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.sameness import essence
from cron2queue.analyser.schedulers import known_scheduler
from cron2queue.crontab.lines import Entry

OFTEN = 0.05
# A path that more entries name is the application's folder, and tells nothing.
FEW = 3


def _own_paths(entry: Entry) -> frozenset[str]:
    """Paths that the entry names, without the folders that it only works in."""
    folders = {word.rstrip("/") for each in invocations(entry.command) if each.program == "cd" for word in each.words}
    return touched_paths(entry.command) - folders


def _shared(one: Entry, other: Entry, often: Counter[str]) -> str | None:
    """What both work on: a file or folder that both name and few others, or the same program with other words."""
    both = {path for path in _own_paths(one) & _own_paths(other) if often[path] <= FEW}
    if both:
        return max(both, key=len)
    first, second = essence(one.command)[-1][:2], essence(other.command)[-1][:2]
    return " ".join(first) if first == second and len(first) == 2 and not first[1].startswith("-") else None


class OverlapBetweenEntries(Rule):
    """Two entries that work on the same thing were seen running at the same time.

    Why it matters
        Each has its own lock, or none, so that nothing keeps them apart: the export reads while the import writes, two
        programs write one file.

    What to do
        One lock for both (`flock` on the same file), or one queue with one worker, or an ordering key.

    Not flagged
        Pairs that share nothing that the text shows but the application's folder, pairs behind the same lock, application's
        own schedulers, and chains (see `time-coupled-chain`).
    """

    code = "C2Q402"
    severity = Severity.WARNING
    confidence = Confidence.MEASURED
    _text = "*/10 * * * * www-data php /x/import.php /srv/shop/data\n5 * * * * www-data php /x/export.php /srv/shop/data\n"
    bad = (Example(_text, evidence={1: {}, 2: {}}, overlaps=((1, 2, 40, 336),)),)
    good = (
        Example(_text, evidence={1: {}, 2: {}}, overlaps=((1, 2, 1, 336),)),
        Example(
            "*/5 * * * * root cd /srv/shop && bin/a\n*/5 * * * * root cd /srv/shop && bin/b\n",
            evidence={1: {}, 2: {}},
            overlaps=((1, 2, 300, 336),),
        ),
        Example("0 * * * * root /opt/a.sh\n0 * * * * root /opt/b.sh\n", evidence={1: {}, 2: {}}, overlaps=((1, 2, 300, 336),)),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Measured meetings, each pair once."""
        if not subject.book.available:
            yield NotJudged(code=self.code, reason="which entries meet is not known: no log was read")
            return
        places = {subject.id_of(file, entry): (file, entry) for file, entry in subject.entries}
        often = Counter(path for _, entry in subject.entries for path in _own_paths(entry))
        chained = {(chain.first, chain.then) for chain in chains_of(subject)}
        told: set[frozenset[str]] = set()
        for each in sorted(subject.book.overlaps, key=lambda overlap: -overlap.share):
            pair = frozenset((each.first, each.then))
            known = each.first in places and each.then in places and len(pair) == 2
            if not known or pair in told or each.share < OFTEN or (each.first, each.then) in chained:
                continue
            (first_file, first), (file, then) = places[each.first], places[each.then]
            shared = _shared(first, then, often)
            own = known_scheduler(first.command) or known_scheduler(then.command)
            if shared is None or own or _same_lock(first, then):
                continue
            told.add(pair)
            yield self.at_entry(
                subject,
                file,
                then,
                f"runs beside line {first.number}, which works on {shared} too",
                "one lock for both, or one queue with one worker",
                evidence=f"{each.share:.0%} of {each.starts:,} starts met a live run of line {first.number}",
                related=(Place(path=first_file.path, line=first.number),),
            )


def _same_lock(one: Entry, other: Entry) -> bool:
    first = {lock.file for lock in locks_of(one.command)}
    return bool(first & {lock.file for lock in locks_of(other.command)} - {None})
