"""Keeps the account of all runs: by entry, between entries, and of what belongs to none."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from math import inf
from typing import cast

from cron2queue.crontab.lines import EntryId
from cron2queue.evidence.batch import Batch
from cron2queue.evidence.log_format import UNMAILED, Ending, Subject
from cron2queue.evidence.matching import Index, Strangers
from cron2queue.evidence.runs import Pairing, Run
from cron2queue.evidence.starts import Started
from cron2queue.evidence.tally import Tally, moment
from cron2queue.evidence.wrapping import unwrapped

_MOST_RECENT = 100_000
_HORIZON = 2 * 86_400.0
_MOST_PAIRS = 50_000
_MOST_SUBJECTS = 4_000
_HOUR = 3_600.0
SYSTEM = "*system*"
"""How daemons name /etc/crontab, and, before its name, a file in /etc/cron.d."""


_RECORDED = Tally(())


class Later:
    """A start of which nothing is known but whose it is, and since when: who was alive then is noted here."""

    __slots__ = ("met", "met_by", "tally")

    def __init__(self, tally: object) -> None:
        self.tally = tally
        self.met = False
        self.met_by: tuple[object, ...] = ()


class Meetings:
    """Who was alive when another began: counted when a run's end is known, from the starts that fell into it."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._starts: list[Started | Later | Tally] = []
        """A tally stands for a start of its own that nobody has met yet."""
        self.pairs: dict[tuple[int, int], list[object]] = {}

    def add(self, start: Started) -> None:
        """One start of an entry."""
        self._make_room(start.at)
        if self._times and start.at < self._times[-1]:  # out of order: beside its like
            place = bisect_right(self._times, start.at)
            self._times.insert(place, start.at)
            self._starts.insert(place, start)
        else:
            self._times.append(start.at)
            self._starts.append(start)

    def add_all(self, times: Sequence[float], starts: Sequence["Started | Tally"]) -> None:
        """Many starts of entries, in the order of time, none before those that are known."""
        self._make_room(times[0])
        self._times.extend(times)
        self._starts.extend(starts)

    def _make_room(self, at: float) -> None:
        if len(self._times) >= _MOST_RECENT:
            keep = max(_MOST_RECENT // 2, bisect_right(self._times, at - _HORIZON))
            del self._times[:keep], self._starts[:keep]

    @property
    def last(self) -> float:
        """When the latest start was."""
        return self._times[-1] if self._times else -inf

    def ended(self, tally: Tally, begun: float, at: float) -> None:
        """A run that began then lived until `at`: every start in between met it."""
        times = self._times
        if not times or times[-1] <= begun:
            return
        for place in range(bisect_right(times, begun), len(times)):
            if times[place] >= at:
                return
            self._meet(tally, place)

    def undecided(self, start: Started, low: float, high: float | None) -> bool:
        """Whether the next start of its entry may or may not have met a run of at least `low` and at most `high` seconds."""
        if high is None:
            return True
        first = bisect_right(self._times, start.at + low)
        last = bisect_right(self._times, start.at + high)
        return any(_whose(each) is start.tally for each in self._starts[first:last])

    def _meet(self, live: Tally, place: int) -> None:
        later = self._starts[place]
        if isinstance(later, Tally):
            later = self._starts[place] = Later(later)
        tally = cast("Tally", later.tally)
        if tally is live:
            if not later.met:
                later.met = True
                live.met += 1
        elif live not in later.met_by:
            self._count(live, tally, later)

    def _count(self, live: Tally, tally: Tally, later: Started | Later) -> None:
        pair = (id(live), id(tally))
        known = self.pairs.get(pair)
        if known is not None:
            known[0] = cast("int", known[0]) + 1
        elif len(self.pairs) < _MOST_PAIRS:
            self.pairs[pair] = [1, live, tally]
        later.met_by = (*later.met_by, live)


def _whose(start: "Started | Later | Tally") -> object:
    return start if isinstance(start, Tally) else start.tally


class Ledger:
    """Told of every start and end (see starts.Found); `listen` hears of each run besides.

    `recorded`: there is a recording, too, so that log lines of wrapped commands are not counted again.
    """

    def __init__(self, index: Index, listen: Callable[[Run], None] | None = None, *, recorded: bool = False) -> None:
        self._index = index
        self._recorded = recorded
        self._listen = listen
        self._tallies: dict[tuple[EntryId, ...], Tally] = {}
        self._by_subject: dict[Subject, Tally | None] = {}
        self.meetings = Meetings()
        self.strangers = Strangers()
        self.runs = self.matched = 0
        self.first, self.last = inf, -inf
        self.active_hours: set[int] = set()
        """Hours since 1970 in which anything was started."""
        self._hour = 0.0
        self.changes: dict[str, float] = {}
        self.told: set[tuple[str, str]] = set()
        self.dropped = 0
        """Messages, perhaps of jobs, that a rate limit kept out of the logs."""

    def tells(self, what: str, tally: Tally) -> bool:
        """Whether all its sources tell of `what`, "output" or "failures", whenever there is some."""
        enough = {what, UNMAILED} if what == "output" and self._index.mails(tally.ids) else {what}
        return all(any((source, each) in self.told for each in enough) for source in tally.sources)

    @property
    def tallies(self) -> list[Tally]:
        """One for each entry, or group of entries that look the same, that was seen."""
        return list(self._tallies.values())

    def stranger(self, entry: str | None) -> bool:
        """Whether no entry has this id (any more)."""
        return entry is None or not self._index.has(entry)

    def started(self, start: Started) -> bool:
        """A start, at once; of what belongs to no entry, only the start is counted."""
        tally = self._tally_of(start.subject)
        if tally is _RECORDED:
            return False
        at = start.at
        if at // _HOUR != self._hour:
            self._hour = at // _HOUR
            self.active_hours.add(int(self._hour))
        if at > self.last:
            self.last = at
        if at < self.first:
            self.first = at
        self.runs += 1
        if tally is None:
            self.strangers.add(start.subject, start.at)
            return self._listen is not None
        self.matched += 1
        start.tally = tally
        tally.start(at, start.source)
        self.meetings.add(start)
        return True

    def wants(self, subject: Subject) -> bool:
        """Whether anybody wants to know what becomes of this subject's runs."""
        return self.heard or self._tally_of(subject) not in (None, _RECORDED)

    def began_all(self, batch: Batch, waiting: dict[int, Started]) -> None:
        """All starts of a batch, those that wait for their ends by their places; only while nobody listens."""
        tallies = [self._tally_of(share.subject) for share in batch.shares]
        times, column = list(batch.begun), cast("list[Started | Tally | None]", [tallies[number] for number in batch.whose])
        for place, start in waiting.items():
            if column[place] not in (None, _RECORDED):
                start.tally, column[place] = column[place], start
        self._count_all(batch, tallies)
        if None in tallies or _RECORDED in tallies:
            known = [each not in (None, _RECORDED) for each in column]
            times, column = list(compress(times, known)), list(compress(column, known))
        if times:
            self.meetings.add_all(times, cast("list[Started | Tally]", column))

    def _count_all(self, batch: Batch, tallies: list[Tally | None]) -> None:
        """All starts of a batch, and its closed runs, of which none is counted that a recording has, too."""
        times = batch.begun
        if _RECORDED in tallies:
            times = array("d", (at for at, number in zip(times, batch.whose, strict=True) if tallies[number] is not _RECORDED))
        if times:
            self.first, self.last = min(self.first, times[0]), max(self.last, times[-1])
            self.active_hours.update(_hours(times))
        latest = dict(zip(batch.whose, batch.begun, strict=True)) if None in tallies else {}
        for number, (tally, share) in enumerate(zip(tallies, batch.shares, strict=True)):
            if tally is _RECORDED:
                continue
            self.runs += share.count
            if tally is not None:
                self.matched += share.count
                self.last = max(self.last, share.ended)
                tally.take(share)
            elif share.count:
                self.strangers.add(share.subject, latest[number], share.count)

    def ended_all(self, batch: Batch) -> None:
        """The closed runs of a batch that lived when another began."""
        tallies = [self._tally_of(share.subject) for share in batch.shares]
        for number, begun, at in batch.met:
            tally = tallies[number]
            if tally is not None and tally is not _RECORDED and not tally.background:
                self.meetings.ended(tally, begun, at)

    @property
    def heard(self) -> bool:
        """Whether somebody wants to hear of each run."""
        return self._listen is not None

    @property
    def latest(self) -> float:
        """When the latest start of an entry was, in seconds since 1970."""
        return self.meetings.last

    def ended(self, start: Started, at: float, ending: Ending, pairing: Pairing) -> None:
        """An end with a known duration."""
        tally = start.tally
        if self._listen is not None:
            self._listen(_run(start, ending, ended=at, pairing=pairing))
        if not isinstance(tally, Tally):
            return
        if at > self.last:
            self.last = at
        if tally.background:
            tally.end_of_shell(at, ending)
            return
        tally.end(start.at, at - start.at, ending, pairing)
        tally.judged += 1
        self.meetings.ended(tally, start.at, at)
        if start.met_at_start:
            self._count_met(start, tally)

    def bounded(self, start: Started, low: float, high: float | None, ending: Ending) -> None:
        """An end of which only limits are known: it was alive for the lower of them."""
        if self._listen is not None:
            self._listen(_run(start, ending, pairing=Pairing.AMBIGUOUS, low=low, high=high))
        tally = start.tally
        if not isinstance(tally, Tally):
            return
        if tally.background:
            tally.end_of_shell(start.at + low, ending)
            return
        tally.between(start.at, low, high, ending)
        if self.meetings.undecided(start, low, high):
            tally.undecided += 1
        else:
            tally.judged += 1
        self.meetings.ended(tally, start.at, start.at + low)
        self._count_met(start, tally)

    @staticmethod
    def _count_met(start: Started, tally: Tally) -> None:
        """Pairing by text has seen that it began beside its like."""
        if start.met_at_start and not start.met:
            start.met = True
            tally.met += 1

    def cut(self, start: Started) -> None:
        """Its end was cut off."""
        if self._listen is not None:
            self._listen(_run(start, None, is_open=True))
        if isinstance(start.tally, Tally):
            start.tally.open += 1

    def endless(self, start: Started) -> None:
        """Its end is not logged."""
        if self._listen is not None:
            self._listen(_run(start, None))

    def refused(self, subject: Subject, at: float, source: str) -> None:
        """A start that the daemon skipped, since the run before was alive."""
        self.last = max(self.last, at)
        self.first = min(self.first, at)
        tally = self._tally_of(subject)
        if tally is not None:
            tally.start(at, source)
            tally.met += 1
            tally.refused += 1

    def changed(self, at: float, whose: str) -> None:
        """A crontab was edited."""
        self.changes[whose] = max(at, self.changes.get(whose, at))

    def lost(self, messages: int) -> None:
        """A rate limit kept them out of the log."""
        self.dropped += messages

    def edited(self, user: str | None) -> float:
        """When a crontab was last edited that can have entries of this user (None: it is not known whose); 0 if none was."""
        of_it = (at for whose, at in self.changes.items() if user in (None, whose) or whose.startswith(SYSTEM))
        return max(of_it, default=0.0)

    def reports(self, what: str, source: str) -> None:
        """The source tells of all output, or of all failures."""
        self.told.add((source, what))

    def _tally_of(self, subject: Subject) -> Tally | None:
        """Whose runs these are: None for nobody's, `_RECORDED` for those that the recording has."""
        try:
            return self._by_subject[subject]
        except KeyError:
            return self._remember(subject)

    def _remember(self, subject: Subject) -> Tally | None:
        ids = self._index.of(subject)
        tally: Tally | None = None
        if self._recorded and not subject.hint and unwrapped(subject.command) is not None:
            tally = _RECORDED  # the recording has the same run, and knows more
        elif ids:
            tally = self._tallies.get(ids)
            if tally is None:
                tally = self._tallies[ids] = Tally(ids, background=self._index.leaves_work_behind(ids))
        if len(self._by_subject) >= _MOST_SUBJECTS:
            self._by_subject.clear()
        self._by_subject[subject] = tally
        return tally


def _hours(times: Sequence[float]) -> Iterator[int]:
    """The hours since 1970 of these times, which are in order."""
    place = 0
    while place < len(times):
        hour = int(times[place] // _HOUR)
        yield hour
        place = bisect_left(times, (hour + 1) * _HOUR, place)


def _run(
    start: Started,
    ending: Ending | None,
    *,
    ended: float | None = None,
    pairing: Pairing = Pairing.EXACT,
    is_open: bool = False,
    low: float | None = None,
    high: float | None = None,
) -> Run:
    ending = ending or Ending()
    return Run(
        started=moment(start.at),
        ended=None if ended is None else moment(ended),
        open=is_open,
        user=start.subject.user,
        command=start.subject.command,
        exit_status=ending.exit_status,
        signal=ending.signal,
        output=ending.output,
        pairing=pairing,
        source=start.source,
        entry_hint=start.subject.hint,
        at_least=low,
        at_most=high,
        cpu_seconds=ending.cpu_seconds,
        max_rss_bytes=ending.max_rss_bytes,
        nothing_to_do=ending.nothing_to_do,
    )
