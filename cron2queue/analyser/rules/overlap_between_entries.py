"""C2Q402."""

from collections.abc import Iterator

from cron2queue.analyser.chains import chains_of, touched_paths
from cron2queue.analyser.finding import Confidence, Finding, NotJudged, Place, Severity
from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.sameness import essence
from cron2queue.crontab.lines import Entry

OFTEN = 0.05


def _shared(one: Entry, other: Entry) -> str | None:
    """What both work on: a file or folder that both name, or the same program with other words."""
    both = touched_paths(one.command) & touched_paths(other.command)
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
        Pairs that share nothing that the text shows, pairs behind the same lock, and chains (see `time-coupled-chain`).
    """

    code = "C2Q402"
    severity = Severity.WARNING
    confidence = Confidence.MEASURED
    _text = "*/10 * * * * www-data php /x/import.php /srv/shop/data\n5 * * * * www-data php /x/export.php /srv/shop/data\n"
    bad = (Example(_text, evidence={1: {}, 2: {}}, overlaps=((1, 2, 40, 336),)),)
    good = (
        Example(_text, evidence={1: {}, 2: {}}, overlaps=((1, 2, 1, 336),)),
        Example("0 * * * * root /opt/a.sh\n0 * * * * root /opt/b.sh\n", evidence={1: {}, 2: {}}, overlaps=((1, 2, 300, 336),)),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Measured meetings, each pair once."""
        if not subject.book.available:
            yield NotJudged(code=self.code, reason="which entries meet is not known: no log was read")
            return
        places = {subject.id_of(file, entry): (file, entry) for file, entry in subject.entries}
        chained = {(chain.first, chain.then) for chain in chains_of(subject)}
        told: set[frozenset[str]] = set()
        for each in sorted(subject.book.overlaps, key=lambda overlap: -overlap.share):
            pair = frozenset((each.first, each.then))
            known = each.first in places and each.then in places and len(pair) == 2
            if not known or pair in told or each.share < OFTEN or (each.first, each.then) in chained:
                continue
            (first_file, first), (file, then) = places[each.first], places[each.then]
            shared = _shared(first, then)
            if shared is None or _same_lock(first, then):
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
