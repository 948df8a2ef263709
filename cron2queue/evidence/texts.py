"""Pairing by the command's text: cronie, and Debian's cron at `-L 3`. Which of several live runs has ended, the number of the
process tells that logged the end: it is the parent of the one that logged the start (see parents.py).
"""

from collections import deque
from collections.abc import Callable, Iterator
from math import inf

from cron2queue.evidence.batch import Batch
from cron2queue.evidence.log_format import Ending, Event, Subject
from cron2queue.evidence.parents import LAP, SAME, Floor, fitting, rivals
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.starts import Found, Started

LONGEST_QUEUE = 64
_MOST_SUBJECTS = 20_000
_CLOCK_STEP = 2.0


class TextPairing:
    """Pairs the starts and ends of one host that bear no key."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._queues: dict[Subject, deque[Started]] = {}
        self._log_begins = inf
        self._sources: set[str] = set()
        """Those that have logged an end by its text, so that a run without an end was cut off."""
        self._floor = Floor()
        self._lacks_starts = False
        """An end was seen of a run whose start was not: messages were lost."""

    def __iter__(self) -> Iterator[Started]:
        """All that are alive."""
        return (start for queue in self._queues.values() for start in queue if not start.done)

    def started(self, start: Started, *, wanted: bool) -> None:
        """A start, which waits for its end where anybody wants to know it."""
        self._log_begins = min(self._log_begins, start.at)
        start.floor = self._floor.below(start.at, start.pid)
        start.lap = self._floor.laps
        if wanted:
            self._queue(start)

    def took(self, batch: Batch) -> None:
        """A block in short."""
        self._log_begins = min(self._log_begins, batch.begun[0])
        self._sources.update(share.source for share in batch.shares if share.alive is not None)

    def alive(self, subject: Subject) -> int:
        """How many runs of it wait for an end, of those that the host has not ended."""
        return sum(not (each.done or each.doubtful) for each in self._queued(subject))

    def _queue(self, start: Started) -> None:
        queue = self._queues.get(start.subject)
        if queue is None:
            if len(self._queues) >= _MOST_SUBJECTS:
                self._queues.clear()
            queue = self._queues[start.subject] = deque()
        while queue and queue[0].done:
            queue.popleft()
        if len(queue) >= LONGEST_QUEUE:
            self._shorten(queue)
        queue.append(start)

    def _shorten(self, queue: deque[Started]) -> None:
        """Keep what is alive; where all of it is, the first is given up."""
        alive = [each for each in queue if not each.done]
        queue.clear()
        queue.extend(alive)
        if len(queue) < LONGEST_QUEUE:
            return
        first = queue.popleft()
        if first.held and first.source not in self._sources:
            first.dropped = True
        else:
            self._give_up(first)

    def _give_up(self, start: Started) -> None:
        """No end of it will be known: it was cut off where its source writes ends."""
        start.done = True
        (self._found.cut if start.source in self._sources else self._found.endless)(start)

    def ended(self, event: Event, ending: Callable[[Event, int], Ending]) -> None:
        """An end; `ending` is asked how, where it is that of a run."""
        self._sources.add(event.source)
        fits = self._fitting(event)
        if fits:
            self._end_first(fits, event, ending(event, 0))
        elif event.at > self._log_begins + LAP:
            self._lacks_starts = True

    def _fitting(self, event: Event) -> list[Started]:
        """The live starts that this end may belong to, likeliest first."""
        if event.subject is None:
            return []
        alive = [each for each in self._queued(event.subject) if not each.done]
        return fitting(alive, event.pid, self._log_begins)

    def _queued(self, subject: Subject) -> list[Started]:
        queue = self._queues.get(subject)
        if queue is not None or not subject.cut:
            return list(queue or ())
        similar = (
            queue
            for other, queue in self._queues.items()
            if other.user == subject.user and other.command.startswith(subject.command[:200])
        )
        return [start for queue in similar for start in queue]

    def _end_first(self, fits: list[Started], event: Event, ending: Ending) -> None:
        own = fits[0]
        times = rivals(fits, own, event.pid)
        earliest, latest = min(times), max(times)
        own.done = True
        came_round = self._lacks_starts and own.lap != self._floor.laps
        if event.at < own.at - _CLOCK_STEP:
            self._found.cut(own)
        elif latest - earliest < SAME and not came_round:
            self._found.ended(own, event.at, ending, Pairing.GOOD)
        else:
            self._found.bounded(own, 0.0 if came_round else max(0.0, event.at - latest), event.at - earliest, ending)
        for later in fits[1:]:
            later.met_at_start = later.met_at_start or later.at >= own.at

    def cut(self) -> None:
        """Nothing that runs now will be seen to end."""
        for start in list(self):
            self._give_up(start)
        self._queues.clear()
        self.restarted()

    def restarted(self) -> None:
        """Process numbers may begin anew."""
        self._floor = Floor()
