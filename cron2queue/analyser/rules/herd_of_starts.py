"""C2Q501."""

from collections.abc import Iterator, Sequence

from cron2queue.analyser.bitcount import minutes_of
from cron2queue.analyser.chains import chains_of
from cron2queue.analyser.finding import Confidence, EntryId, Finding, NotJudged, Place, Severity
from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.load import WHOLE_DAY, Burden, burdens_of
from cron2queue.analyser.rule import Example, Rule, Subject
from cron2queue.analyser.spreading import Move, Spread, spread
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
        Move the entries to the minutes that the remedy names. Each keeps its hours, days and intervals, and a window that a
        comment declares (`# cron2queue: window=01:00-01:20`). Members of time-coupled chains stay, lines that are to be
        repaired or switched off get no new minute, and the lower peak has been counted again over the four weeks ahead.

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
        """Nothing, before it is known which lines are to be repaired."""
        return iter(())

    def look_again(self, subject: Subject, faulty: frozenset[EntryId]) -> Iterator[Finding | NotJudged]:
        """For each host by itself."""
        fixed = self._in_chains(subject) | faulty
        hosts: dict[str, list[tuple[CrontabFile, Entry]]] = {}
        for each in subject.entries:
            hosts.setdefault(host_of(each[0]), []).append(each)
        largest = sorted((entries for entries in hosts.values() if len(entries) >= HERD), key=len, reverse=True)
        for entries in largest[:MOST_HOSTS]:
            yield from self._of_host(subject, burdens_of(subject, entries), fixed)
        if len(largest) > MOST_HOSTS:
            reason = (
                f"the {MOST_HOSTS:,} hosts with the most entries were looked at, and {len(largest) - MOST_HOSTS:,} were not"
            )
            yield NotJudged(code=self.code, reason=reason)

    def _of_host(self, subject: Subject, ours: Sequence[Burden], fixed: frozenset[EntryId]) -> Iterator[Finding]:
        allowed = [self._allowed(subject, each, fixed) for each in ours]
        proposal = spread(ours, target=HERD - 1, allowed=allowed)
        if proposal is not None:
            yield self._herd(subject, ours, proposal)

    def _allowed(self, subject: Subject, each: Burden, fixed: frozenset[EntryId]) -> int:
        """The minutes of the day to which it may move: all, those of its declared window, or none."""
        if subject.id_of(each.file, each.entry) in fixed:
            return 0
        window = subject.declared(each.file, each.entry).window
        return WHOLE_DAY if window is None else window

    def _in_chains(self, subject: Subject) -> frozenset[EntryId]:
        return frozenset(entry_id for chain in chains_of(subject) for entry_id in (chain.first, chain.then))

    def _herd(self, subject: Subject, ours: Sequence[Burden], proposal: Spread) -> Finding:
        top, day, where = proposal.before, proposal.day, proposal.minutes
        minutes = list(minutes_of(where))
        herd = [each for each in ours if each.days >> day & 1 and each.starts & where]
        times = ", ".join(f"{minute // 60:02d}:{minute % 60:02d}" for minute in minutes[:3])
        often = f"{times} and {len(minutes) - 3} more times" if len(minutes) > 3 else times
        places = list(dict.fromkeys(Place(path=each.file.path, line=each.entry.number) for each in herd))
        new = "; ".join(self._move(move, places[0].path) for move in proposal.moves)
        return self.at(
            places[0],
            f"{top} entries start in the same minute, at {often}",
            f"spread them: {new}",
            severity=Severity.WARNING if top >= CROWD else Severity.NOTE,
            evidence=f"with these minutes at most {proposal.after} start together; counted over the 28 days ahead",
            related=tuple(places[1:]),
            moves=tuple((subject.id_of(move.file, move.entry), move.schedule_text) for move in proposal.moves),
        )

    def _move(self, move: Move, path: str) -> str:
        where = "" if move.file.path == path else f"{move.file.path} "
        return f"{where}line {move.entry.number}: {move.schedule_text}"
