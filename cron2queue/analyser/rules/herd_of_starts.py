"""C2Q501."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.bitcount import minutes_of
from cron2queue.analyser.chains import chains_of
from cron2queue.analyser.finding import Confidence, EntryId, Finding, NotJudged, Place, Severity
from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.load import Burden, burdens_of
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.spreading import Spread, spread
from cron2queue.crontab.lines import CrontabFile, Entry

HERD = 4
CROWD = 6
# A proposal takes about a millisecond a host.
MOST_HOSTS = 1000


class HerdOfStarts(Rule):
    """Many entries start in the same minute, because everybody writes minute 0.

    Why it matters
        At 00:00 and at each full hour the machine, the database and the services that the jobs call get everything at once,
        and for the rest of the hour nothing. Jobs that take seconds alone then take minutes, and meet their next start.

    What to do
        Move the entries to the minutes that the remedy names. Each keeps its hours, days and intervals, members of
        time-coupled chains stay, lines that are to be corrected or deleted get no new minute, and the lower peak has been
        counted again over the four weeks ahead.

    Not flagged
        Fewer than four starts in a minute, and herds that no move within the hour makes smaller.
    """

    code = "C2Q501"
    severity = Severity.WARNING
    confidence = Confidence.PROVEN
    bad = (
        "0 * * * * root /opt/a.sh\n0 * * * * root /opt/b.sh\n0 2 * * * root /opt/c.sh\n0 2 * * * root /opt/d.sh\n",
        "".join(f"*/5 * * * * www-data php /x/{name}.php\n" for name in "abcdef"),
    )
    good = (
        "0 * * * * root /opt/a.sh\n7 * * * * root /opt/b.sh\n20 2 * * * root /opt/c.sh\n",
        "".join(f"* * * * * www-data php /x/{name}.php\n" for name in "abcdef"),
        Example("0 1 * * * root a\n0 2 * * * root b\n0 3 * * * root c\n0 4 * * * root d\n"),
    )

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Nothing, before it is known which lines are to be corrected."""
        return iter(())

    def look_again(self, subject: Subject, faulty: frozenset[EntryId]) -> Iterator[Finding | NotJudged]:
        """For each host by itself."""
        fixed = self._places(subject, self._in_chains(subject) | faulty)
        hosts: dict[str, list[tuple[CrontabFile, Entry]]] = {}
        for each in subject.entries:
            hosts.setdefault(host_of(each[0]), []).append(each)
        largest = sorted((entries for entries in hosts.values() if len(entries) >= HERD), key=len, reverse=True)
        for entries in largest[:MOST_HOSTS]:
            yield from self._of_host(burdens_of(subject, entries), fixed)
        if len(largest) > MOST_HOSTS:
            reason = (
                f"the {MOST_HOSTS:,} hosts with the most entries were looked at, and {len(largest) - MOST_HOSTS:,} were not"
            )
            yield NotJudged(code=self.code, reason=reason)

    def _of_host(self, ours: Sequence[Burden], fixed: frozenset[tuple[str, int]]) -> Iterator[Finding]:
        proposal = spread(ours, target=HERD - 1, fixed=fixed)
        if proposal is not None:
            yield self._herd(ours, proposal)

    def _in_chains(self, subject: Subject) -> frozenset[EntryId]:
        return frozenset(entry_id for chain in chains_of(subject) for entry_id in (chain.first, chain.then))

    def _places(self, subject: Subject, entries: frozenset[EntryId]) -> frozenset[tuple[str, int]]:
        return frozenset(place for place, entry_id in subject.ids.items() if entry_id in entries) if entries else frozenset()

    def _herd(self, ours: Sequence[Burden], proposal: Spread) -> Finding:
        top, day, where = proposal.before, proposal.day, proposal.minutes
        minutes = list(minutes_of(where))
        herd = [each for each in ours if each.days >> day & 1 and each.starts & where]
        times = ", ".join(f"{minute // 60:02d}:{minute % 60:02d}" for minute in minutes[:3])
        often = f"{times} and {len(minutes) - 3} more times" if len(minutes) > 3 else times
        new = "; ".join(f"line {move.entry.number}: {move.schedule_text}" for move in proposal.moves)
        places = list(dict.fromkeys(Place(path=each.file.path, line=each.entry.number) for each in herd))
        return self.at(
            places[0],
            f"{top} entries start in the same minute, at {often}",
            f"spread them: {new}",
            severity=Severity.WARNING if top >= CROWD else Severity.NOTE,
            evidence=f"with these minutes at most {proposal.after} start together; counted over the 28 days ahead",
            related=tuple(places[1:]),
        )
