"""From what happened to runs: which end belongs to which start, and how surely.

Three ways, by what the source writes: a key that joins both (exact); the command's text, first in first out (good while
only one such command is alive); PAM sessions, whose ends are known and whose commands are not (see sessions.py).
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import inf
from typing import Protocol

from cron2queue.evidence.batch import Batch
from cron2queue.evidence.log_format import ENDLESS, NO_ENDING, Ending, Event, Op, Subject
from cron2queue.evidence.parents import SAME, fitting, rivals
from cron2queue.evidence.runs import Pairing

LONGEST_QUEUE = 64
_MOST_KEYS = 20_000
_FEW_LINES = 5  # "nothing to do" among more output than this was not all that it did
_CLOCK_STEP = 2.0


class Started:
    """A start that waits for its end. Mutable and bare, since millions of them pass by."""

    __slots__ = (
        "at",
        "child",
        "done",
        "doubtful",
        "met",
        "met_at_start",
        "met_by",
        "pid",
        "place",
        "source",
        "subject",
        "tally",
    )

    def __init__(self, at: float, subject: Subject, source: str, pid: int, child: int, place: int) -> None:
        self.at = at
        self.subject = subject
        self.source = source
        self.pid = pid
        self.child = child
        self.place = place
        self.tally: object = None
        self.done = self.doubtful = self.met = self.met_at_start = False
        self.met_by: tuple[object, ...] = ()


class Found(Protocol):
    """Who is told of starts and of what became of them."""

    def started(self, start: Started) -> bool:
        """A start, at once; whether anybody wants to know what becomes of it."""

    def ended(self, start: Started, at: float, ending: Ending, pairing: Pairing) -> None:
        """Its end, with a known duration."""

    def bounded(self, start: Started, low: float, high: float | None, ending: Ending) -> None:
        """It ended, after at least `low` and at most `high` seconds."""

    def cut(self, start: Started) -> None:
        """Its end was cut off: by the log's edge, a reboot, or a gap."""

    def wants(self, subject: Subject) -> bool:
        """Whether anybody wants to know what becomes of this subject's runs."""

    def began_all(self, batch: Batch, waiting: dict[int, Started]) -> None:
        """All starts of a batch, those that wait for their ends by their places."""

    def ended_all(self, batch: Batch) -> None:
        """The closed runs of a batch."""

    @property
    def latest(self) -> float:
        """When the latest start was, in seconds since 1970."""

    def endless(self, start: Started) -> None:
        """Its source never writes ends."""

    def refused(self, subject: Subject, at: float, source: str) -> None:
        """The daemon did not start it, since the run before was alive."""

    def changed(self, at: float, whose: str) -> None:
        """A crontab was edited."""

    def reports(self, what: str, source: str) -> None:
        """The source tells of `what` ("output", "failures") whenever there is some."""


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
        self._by_text: dict[Subject, deque[Started]] = {}
        self._failed: dict[tuple[int, int], Ending] = {}
        self._wrote: dict[int, tuple[bool, int]] = {}
        self._closings: deque[tuple[Event, int]] = deque()
        """Sessions that closed in this very second, with their places: of two logs, what came before may be read after it."""
        self._ended: dict[int, float] = {}
        """When parents logged an end: of two logs, the opening of its session may be read after it."""
        self._place = 0
        self._log_begins = inf
        self._ends_by_text: set[str] = set()
        """Sources that have logged an end by its text, so that one without an end was cut off."""
        acts = {
            Op.START: self._start,
            Op.END: self._end,
            Op.FAILED: self._announce,
            Op.WROTE: self._note_output,
            Op.OPENED: self._opened,
            Op.CLOSED: self._closed,
            Op.REFUSED: self._refused,
            Op.REBOOT: self._reboot,
            Op.RESTARTED: self._doubt,
            Op.LOST: self._doubt,
            Op.CHANGED: self._changed,
            Op.REPORTS: self._reports,
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
        self._log_begins = min(self._log_begins, batch.begun[0])
        self._sessions.forget_all(loggers)
        waiting = {place: self._begun(event) for place, event in batch.left if place >= 0}
        self._found.began_all(batch, waiting)
        for place, event in batch.left:
            if place >= 0:
                self._wait(event, waiting[place], wanted=waiting[place].tally is not None)
            else:
                self._acts[event[1]](event)
        self._ends_by_text.update(share.source for share in batch.shares if share.alive is not None)
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
            share.alive == sum(not each.done for each in self._queued(share.subject))
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
            if wanted:
                self._queue(start)
            self._close_until(start.at)
            self._log_begins = min(self._log_begins, start.at)
            self._sessions.started(start)

    def _keep(self, key: Hashable, start: Started) -> None:
        before = self._by_key.pop(key, None)
        if before is not None:  # the number is used again, so the end of the first was lost
            self._found.cut(before)
        elif len(self._by_key) >= _MOST_KEYS:
            self._found.cut(self._by_key.pop(next(iter(self._by_key))))
        self._by_key[key] = start

    def _queue(self, start: Started) -> None:
        queue = self._by_text.get(start.subject)
        if queue is None:
            if len(self._by_text) >= _MOST_KEYS:
                self._by_text.clear()
            queue = self._by_text[start.subject] = deque()
        while queue and (queue[0].done or len(queue) >= LONGEST_QUEUE):
            gone = queue.popleft()
            if not gone.done:
                self._found.endless(gone)
        queue.append(start)

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
        self._ends_by_text.add(event.source)
        self._close_until(event.at)
        fits = self._fitting(event)
        if fits:
            self._end_first(fits, event)
        self._sessions.forget(event.pid)
        if len(self._ended) >= _MOST_KEYS:
            self._ended.clear()
        self._ended[event.pid] = event.at

    def _end_first(self, fits: list[Started], event: Event) -> None:
        own = fits[0]
        times = rivals(fits, own, event.pid)
        earliest, latest = min(times), max(times)
        own.done = True
        ending = self._ending(event, 0)
        if event.at < own.at - _CLOCK_STEP:
            self._found.cut(own)
        elif latest - earliest < SAME:
            self._found.ended(own, event.at, ending, Pairing.GOOD)
        else:
            self._found.bounded(own, max(0.0, event.at - latest), event.at - earliest, ending)
        for later in fits[1:]:
            later.met_at_start = later.met_at_start or later.at >= own.at

    def _fitting(self, event: Event) -> list[Started]:
        """The live starts that this end may belong to, likeliest first."""
        if event.subject is None:
            return []
        alive = [each for each in self._queued(event.subject) if not each.done]
        return fitting(alive, event.pid, self._log_begins)

    def _queued(self, subject: Subject) -> list[Started]:
        queue = self._by_text.get(subject)
        if queue is not None or not subject.cut:
            return list(queue or ())
        similar = (
            queue
            for other, queue in self._by_text.items()
            if other.user == subject.user and other.command.startswith(subject.command[:200])
        )
        return [start for queue in similar for start in queue]

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
        self._found.reports("output", event.source)

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

    def _doubt(self, event: Event) -> None:
        for start in self._alive():
            start.doubtful = True

    def _changed(self, event: Event) -> None:
        self._found.changed(event.at, str(event.detail))

    def _reports(self, event: Event) -> None:
        self._found.reports(str(event.detail), event.source)

    def _alive(self) -> list[Started]:
        queued = (start for queue in self._by_text.values() for start in queue)
        return [start for start in (*self._by_key.values(), *queued) if not start.done]

    def _cut_all(self) -> None:
        self._close_until(inf)
        self._sessions.cut()
        keyed = set(map(id, self._by_key.values()))
        for start in self._alive():
            start.done = True
            ends = id(start) in keyed or start.source in self._ends_by_text
            (self._found.cut if ends else self._found.endless)(start)
        self._by_key.clear()
        self._by_text.clear()
        self._failed.clear()
        self._wrote.clear()
