"""From what happened to runs: which end belongs to which start, and how surely.

Three ways, by what the source writes: a key that joins both (exact); the command's text, and the numbers of the processes
that log it (see texts.py); PAM sessions, whose ends are known and whose commands are not (see sessions.py).
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import chain
from math import inf
from typing import Protocol

from cron2queue.evidence.batch import Batch
from cron2queue.evidence.log_format import ENDLESS, NO_ENDING, UNMAILED, Ending, Event, Op, Subject
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.starts import Found, Started
from cron2queue.evidence.texts import TextPairing

_MOST_KEYS = 20_000
_FEW_LINES = 5  # "nothing to do" among more output than this was not all that it did
_CLOCK_STEP = 2.0


class Sessions(Protocol):
    """What pairing by session needs; sessions.py has it."""

    def started(self, start: Started) -> None:
        """A command was logged."""

    def opened(self, at: float, user: str, pid: int, place: int) -> None:
        """A session was opened."""

    def closed(self, at: float, pid: int, place: int, *, wrote: bool) -> None:
        """A session was closed."""

    def forget(self, pid: int) -> None:
        """No session is needed for this parent."""

    def forget_all(self, pids: Sequence[bytes]) -> None:
        """No session is needed for these parents."""

    @property
    def unknown(self) -> bool:
        """Whether no session has been seen yet."""

    def cut(self) -> None:
        """Nothing that runs now will be seen to end."""


_NOBODY = Subject("", "")


class Pairer:
    """Pairs the events of one host, which come in the order of time."""

    def __init__(self, found: Found, sessions: Sessions, says_nothing_to_do: Callable[[str], bool]) -> None:
        self._found = found
        self._sessions = sessions
        self._says_nothing_to_do = says_nothing_to_do
        self._by_key: dict[Hashable, Started] = {}
        self._texts = TextPairing(found)
        self._failed: dict[tuple[int, int], Ending] = {}
        self._wrote: dict[int, tuple[bool, int]] = {}
        self._closings: deque[tuple[Event, int]] = deque()
        """Sessions that closed in this very second, with their places: of two logs, what came before may be read after it."""
        self._ended: dict[int, float] = {}
        """When parents logged an end: of two logs, the opening of its session may be read after it."""
        self._place = 0
        acts: dict[Op, Callable[[Event], None]] = {
            Op.START: self._start,
            Op.END: self._end,
            Op.FAILED: self._announce,
            Op.WROTE: self._note_output,
            Op.OPENED: self._opened,
            Op.CLOSED: self._closed,
            Op.REFUSED: self._refused,
            Op.REBOOT: self._reboot,
            Op.RESTARTED: partial(self._doubt, doubtful=True),
            Op.LOST: self._lost,
            Op.CHANGED: self._changed,
            Op.REPORTS: self._reports,
            Op.STAYED: partial(self._doubt, doubtful=False),
        }
        self._acts = tuple(acts[op] for op in Op)

    def take(self, events: Iterable[Event]) -> None:
        """The next events."""
        acts = self._acts
        for event in events:
            acts[event[1]](event)

    def take_together(self, batch: Batch) -> bool:
        """A block in short; False when what is known from before may change what it says: it is to be taken as events."""
        loggers = batch.pids.split()
        if not self._holds(batch, loggers):
            return False
        self._sessions.forget_all(loggers)
        waiting = {place: self._begun(event) for place, event in batch.left if place >= 0}
        self._found.began_all(batch, waiting)
        for place, event in batch.left:
            if place >= 0:
                self._wait(event, waiting[place], wanted=waiting[place].tally is not None)
            else:
                self._acts[event[1]](event)
        self._texts.took(batch)
        self._found.ended_all(batch)
        return True

    def _holds(self, batch: Batch, loggers: Sequence[bytes]) -> bool:
        """Whether nothing from before the block belongs to what was taken together in it."""
        if batch.begun[0] < self._found.latest or (batch.bare and not self._sessions.unknown):
            return False
        noted = (
            {key[0] for key in self._by_key if isinstance(key, tuple)} | {pid for pid, _ in self._failed} | self._wrote.keys()
        )
        if not {b"%d" % pid for pid in noted}.isdisjoint(loggers):
            return False
        return all(
            share.alive == self._texts.alive(share.subject)
            for share in batch.shares
            if share.alive is not None and self._found.wants(share.subject)
        )

    def finish(self) -> None:
        """The log's end: whatever still runs was cut off."""
        self._cut_all()

    def _start(self, event: Event) -> None:
        start = self._begun(event)
        self._wait(event, start, wanted=self._found.started(start))

    def _begun(self, event: Event) -> Started:
        at, _, _, subject, pid, child, _, _, source = event
        self._place += 1
        return Started(at, subject or _NOBODY, source, pid, child, self._place)

    def _wait(self, event: Event, start: Started, *, wanted: bool) -> None:
        """From now on its end may come."""
        _, _, key, _, pid, child, detail, _, _ = event
        if key is not None:
            if wanted:
                self._keep(key, start)
            if child:
                self._sessions.forget(pid)
        elif detail == ENDLESS:
            self._found.endless(start)
        else:
            self._texts.started(start, wanted=wanted)
            self._close_until(start.at)
            self._sessions.started(start)

    def _keep(self, key: Hashable, start: Started) -> None:
        before = self._by_key.pop(key, None)
        if before is not None:  # the number is used again, so the end of the first was lost
            self._found.cut(before)
        elif len(self._by_key) >= _MOST_KEYS:
            self._found.cut(self._by_key.pop(next(iter(self._by_key))))
        self._by_key[key] = start

    def _end(self, event: Event) -> None:
        if event.key is None:
            self._end_by_text(event)
            return
        start = self._by_key.pop(event.key, None)
        if start is None:
            return
        start.done = True
        if event.at < start.at - _CLOCK_STEP:  # the clock was set back meanwhile: how long it ran, nobody knows
            self._found.cut(start)
            return
        plain = event.detail is None and not self._failed and not self._wrote
        self._found.ended(start, event.at, NO_ENDING if plain else self._ending(event, start.child), Pairing.EXACT)

    def _ending(self, event: Event, child: int) -> Ending:
        ending = event.detail if isinstance(event.detail, Ending) else NO_ENDING
        if self._failed:
            failed = self._failed.pop((event.pid, child), None)
            if failed is not None:
                ending = ending._replace(exit_status=failed.exit_status, signal=failed.signal)
        if self._wrote and event.pid in self._wrote:
            said_so, lines = self._wrote.pop(event.pid)
            ending = ending._replace(output=True, nothing_to_do=(said_so and lines <= _FEW_LINES) or None)
        return ending

    def _end_by_text(self, event: Event) -> None:
        self._close_until(event.at)
        self._texts.ended(event, self._ending)
        self._sessions.forget(event.pid)
        if len(self._ended) >= _MOST_KEYS:
            self._ended.clear()
        self._ended[event.pid] = event.at

    def _announce(self, event: Event) -> None:
        if isinstance(event.detail, Ending):
            if len(self._failed) >= _MOST_KEYS:
                self._failed.clear()
            self._failed[event.pid, event.child] = event.detail
            self._found.reports("failures", event.source)

    def _note_output(self, event: Event) -> None:
        if len(self._wrote) >= _MOST_KEYS:
            self._wrote.clear()
        said_so, lines = self._wrote.get(event.pid, (False, 0))
        if isinstance(event.detail, str) and not said_so and lines < _FEW_LINES:
            said_so = self._says_nothing_to_do(event.detail)
        self._wrote[event.pid] = (said_so, lines + 1)
        self._found.reports(UNMAILED if event.detail is None else "output", event.source)

    def _opened(self, event: Event) -> None:
        self._close_until(event.at)
        self._place += 1
        if self._ended and event.at - self._ended.pop(event.pid, -inf) <= 1.0:
            return
        self._sessions.opened(event.at, event.subject.user if event.subject else "", event.pid, self._place)

    def _closed(self, event: Event) -> None:
        self._close_until(event.at)
        self._place += 1
        self._closings.append((event, self._place))

    def _close_until(self, at: float) -> None:
        while self._closings and self._closings[0][0].at < at:
            event, place = self._closings.popleft()
            wrote = self._wrote.pop(event.pid, None) is not None
            self._sessions.closed(event.at, event.pid, place, wrote=wrote)

    def _refused(self, event: Event) -> None:
        if event.subject is not None:
            self._found.refused(event.subject, event.at, event.source)

    def _reboot(self, event: Event) -> None:
        self._cut_all()

    def _doubt(self, event: Event, *, doubtful: bool) -> None:
        for start in chain(self._by_key.values(), self._texts):
            start.doubtful = doubtful
        if doubtful:
            self._texts.restarted()

    def _lost(self, event: Event) -> None:
        if isinstance(event.detail, int) and (not event.child or event.child in self._wrote):
            self._found.lost(event.detail)

    def _changed(self, event: Event) -> None:
        self._found.changed(event.at, str(event.detail))

    def _reports(self, event: Event) -> None:
        self._found.reports(str(event.detail), event.source)

    def _cut_all(self) -> None:
        self._close_until(inf)
        self._sessions.cut()
        for start in self._by_key.values():
            start.done = True
            self._found.cut(start)
        self._by_key.clear()
        self._texts.cut()
        self._failed.clear()
        self._wrote.clear()
