"""Several logs as one stream of events in the order of time, each event once.

Starts stand in syslog and sessions in auth.log; and the same line may stand in syslog, in cron.log and in the journal.
What the journal has is taken from there, since it knows more; of two text logs the first has it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from cron2queue.evidence.log_format import Event

_SAME = 2.0  # seconds between the stamps that two logs give to one message
_REMEMBERED = 20_000
_at = itemgetter(0)


@dataclass(slots=True)
class _Stream:
    source: Iterator[list[Event]]
    number: int
    journal: bool
    items: list[Event] = field(default_factory=list)
    first: float | None = None
    done: bool = False

    def fill(self) -> None:
        while not self.items and not self.done:
            items = next(self.source, None)
            if items is None:
                self.done = True
            elif items:
                self.items = items
                if self.first is None:
                    self.first = items[0].at

    def taken(self, until: float) -> list[Event]:
        """What is due up to then."""
        place = len(self.items) if self.items[-1].at <= until else bisect_right(self.items, until, key=_at)
        due, self.items = self.items[:place], self.items[place:]
        return due


class Merger:
    """Merges the streams; `doubles` counts what was left out, since another log has it too."""

    def __init__(self, streams: Sequence[tuple[Iterator[list[Event]], bool]]) -> None:
        self._streams = [_Stream(source, number, journal) for number, (source, journal) in enumerate(streams)]
        self._recent: dict[object, tuple[float, int]] = {}
        self.doubles = 0

    def __iter__(self) -> Iterator[list[Event]]:
        while True:
            for stream in self._streams:
                stream.fill()
            live = [stream for stream in self._streams if stream.items]
            if not live:
                return
            yield self._next(live)

    def _next(self, live: list[_Stream]) -> list[Event]:
        until = min(stream.items[-1].at for stream in live)
        due: list[Event] = []
        journals = [stream for stream in live if stream.journal]
        for stream in live:
            due.extend(self._once(stream, stream.taken(until), journals))
        due.sort(key=_at)
        return due

    def _once(self, stream: _Stream, items: list[Event], journals: list[_Stream]) -> Iterator[Event]:
        for item in items:
            if not stream.journal and any(_covers(journal, item) for journal in journals):
                self.doubles += 1
                continue
            if self._repeated(item, stream.number):
                self.doubles += 1
                continue
            yield item

    def _repeated(self, item: Event, number: int) -> bool:
        what = (item.op, item.pid, item.child, item.subject, item.host)
        before = self._recent.get(what)
        if before is not None and before[1] != number and abs(item.at - before[0]) <= _SAME:
            return True
        if len(self._recent) >= _REMEMBERED:
            self._recent.clear()
        self._recent[what] = (item.at, number)
        return False


def _covers(journal: _Stream, item: Event) -> bool:
    """Whether the journal, of the same host, has begun by then; it has not ended, or it would not be asked."""
    if journal.first is None or item.at < journal.first or not journal.items:
        return False
    ours, theirs = journal.items[0].host.split(b".")[0], item.host.split(b".")[0]
    return not ours or not theirs or ours == theirs
