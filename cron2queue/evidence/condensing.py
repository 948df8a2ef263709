"""Blocks of a syslog, read into batches: the way of the millions of lines that are all alike.

What a line says, the formats say, as for single events; each message is asked for once. Here is only found which runs begin
and end in the block, with nothing in it that could make anything else of them. Where that is not sure there is no batch,
and the block is read line by line. All is done in columns, a whole block at a time: a loop over lines is several times
slower.
"""

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import compress, count, pairwise, repeat
from math import inf
from operator import add, itemgetter, sub
from typing import NamedTuple

from cron2queue.evidence.aside import Aside, lines_aside
from cron2queue.evidence.batch import Batch, Share
from cron2queue.evidence.joining import Alternating, Lines, alternating, joined
from cron2queue.evidence.log_format import ENDLESS, Event, Op
from cron2queue.evidence.messages import Messages, Shape
from cron2queue.evidence.parents import NEAR, WRAP
from cron2queue.evidence.reading import Formats, SyslogReader
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.sessions import APART
from cron2queue.evidence.stamps import Clock, NoStamp, State
from cron2queue.evidence.texts import LONGEST_QUEUE

_REST = 30  # blocks that are not tried at most, after several that were of no use
_UNSURE = frozenset({Op.REBOOT, Op.RESTARTED, Op.STAYED})
_TOUCHING = frozenset({Op.FAILED, Op.WROTE})
_SESSIONS = frozenset({Op.OPENED, Op.CLOSED})
_FEW = 20


class _Unsure(Exception):
    """The block is to be read line by line."""


def reread(reader: SyslogReader, clock: Clock, before: State, block: Callable[[], bytes]) -> list[Event]:
    """The events of a block whose batch was of no use, read by a clock that is set back to where it was before it."""
    clock.restore(before)
    return reader.events(block())


class Condenser:
    """Makes batches of the blocks of one file."""

    def __init__(self, reader: SyslogReader, formats: Formats, clock: Clock) -> None:
        self.reader = reader
        self._formats = formats
        self._clock = clock
        self._messages: dict[Shape, Messages] = {}
        self._resting = self._vain = 0
        tags = b"|".join({tag for each in formats.all for tag in each.tags if each.jobs})
        verbs = b"|".join({verb for each in formats.all for verb in each.jobs})
        self._like = re.compile(
            rb"\n(?P<stamp>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|"
            rb"(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d):\d\d(?:\.(?P<fraction>\d{1,9}))?(?P<zone>Z|[+-]\d\d:?\d\d|)) "
            rb"(?P<host>[^ \n:\[<]{1,255}) (?P<tag>" + tags + rb")\[\d{1,9}\]: \([^ )\n]{1,64}\) (?:" + verbs + rb") \("
        )

    def batch(self, block: bytes) -> Batch | None:
        """The block in short; None when it is better read line by line, and then the clock is where it was before."""
        if self._resting:
            self._resting -= 1
            return None
        like = self._like.search(block)
        if like is None:
            return None
        before = self._clock.state()
        try:
            found = self._read(self._known(like), block)
        except (_Unsure, NoStamp):
            found = None
        if found is None:
            self._clock.restore(before)
        self._vain = 0 if found is not None else min(2 * self._vain + 1, _REST)
        self._resting = self._vain
        return found

    def _read(self, messages: Messages, block: bytes) -> Batch | None:
        step = messages.jobs.groups + 1
        parts = messages.jobs.split(block)
        columns = {name: parts[place::step] for name, place in messages.jobs.groupindex.items()}
        return _Look(messages, self.reader, self._clock, columns).read(parts[::step])

    def _known(self, like: re.Match[bytes]) -> Messages:
        digits = None if like["iso"] is None else len(like["fraction"] or b"")
        shape = Shape(digits, like["zone"] or b"", like["host"], like["tag"])
        if shape not in self._messages:
            if len(self._messages) > 100:
                self._messages.clear()
            self._messages[shape] = Messages(shape, self._formats)
        return self._messages[shape]


class _Numbers(dict[bytes, float]):
    """Minutes and seconds as they stand in stamps."""

    def __missing__(self, digits: bytes) -> float:
        raise NoStamp(digits)


_NUMBERS = _Numbers({b"%02d" % number: float(number) for number in range(60)})


class _Minutes(dict[bytes, float]):
    """When each minute begins. The clock is asked for each hour, in order."""

    def __init__(self, clock: Clock, zone: bytes) -> None:
        self._clock = clock
        self._zone = zone
        self._hours: dict[bytes, float] = {}

    def __missing__(self, minute: bytes) -> float:
        after = 60 * _NUMBERS[minute[-2:]]
        hour = self._hours.get(minute[:-2])
        if hour is None:
            hour = self._hours[minute[:-2]] = self._clock.minute(minute, self._zone) - after
        self[minute] = hour + after
        return hour + after


class _Shares:
    """What the subjects of a block have in it."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._numbers: dict[tuple[object, str], int] = {}
        self.all: list[Share] = []

    def number(self, op: Op, user: bytes, said: bytes) -> int:
        """That of the share to which a start or an end belongs."""
        event = self._messages.of(op, user, said)
        if event is None or event.subject is None:
            raise _Unsure
        number = self._numbers.setdefault((event.subject, event.source), len(self.all))
        if number == len(self.all):
            pairing = Pairing.GOOD if said.startswith(b"(") and event.detail != ENDLESS else Pairing.EXACT
            self.all.append(Share(subject=event.subject, source=event.source, pairing=pairing))
        return number


class _Numbered(dict[tuple[bytes, bytes], int]):
    """The number of a share, by user and what is said."""

    def __init__(self, shares: _Shares, op: Op) -> None:
        self._shares = shares
        self._op = op

    def __missing__(self, key: tuple[bytes, bytes]) -> int:
        number = self[key] = self._shares.number(self._op, *key)
        return number


class _Runs(NamedTuple):
    """Columns: time and share of each start; share, start and end of each closed run. `pids` have logged those ends."""

    at: list[float]
    whose: list[int]
    closed: list[int]
    begun: list[float]
    ended: list[float]
    pids: bytes


class _Look:
    """One block."""

    def __init__(self, messages: Messages, reader: SyslogReader, clock: Clock, columns: dict[str, list[bytes]]) -> None:
        self._messages = messages
        self._reader = reader
        self._clock = clock
        self._of = columns
        self._shares = _Shares(messages)
        # Beside the shares and not in them: that would be a ring, and nobody looks for rings while a log is read.
        self._numbered = {op: _Numbered(self._shares, op) for op in (Op.START, Op.END)}
        self._times: list[float] = []
        self._left: list[tuple[int, int, int, Event]] = []
        """Number of the line, 0 for what stands before it, place among the starts, event."""
        self._touched: set[bytes] = set()

    def read(self, chunks: list[bytes]) -> Batch | None:
        """The block in short, or None when that is of no use; the chunks are what stands between the lines of jobs."""
        numbered = any(self._of["child"]) or any(self._of["ended"])
        named = set(self._of["pid"]) if numbered else set()
        aside = lines_aside(chunks, self._messages, named)
        if len(aside) > len(self._of["pid"]) + _FEW:
            return None
        self._times = self._read_times(aside)
        if self._times != sorted(self._times):
            raise _Unsure
        runs = self._by_number() if numbered else self._by_text()
        self._left = [each for each in self._left if each[3].op not in _SESSIONS or self._is_needed(b"%d" % each[3].pid, named)]
        if not runs.at or len(self._left) > len(runs.closed) + len(runs.at) // 2:
            return None
        bare = any(share.pairing is Pairing.GOOD for share in self._shares.all)
        if bare and any(each[3].op in _SESSIONS for each in self._left):
            return None  # they are paired by their sessions
        return self._batch(runs, bare=bare)

    def _is_needed(self, pid: bytes, named: set[bytes]) -> bool:
        """Whether a session is: not where its process names its job, unless that is not taken together."""
        return pid not in named or pid in self._touched

    def _read_times(self, aside: list[Aside]) -> list[float]:
        """When each job's line was written; the lines aside are read on the way, since clocks see stamps in order."""
        begins = _Minutes(self._clock, self._messages.shape.zone).__getitem__
        minutes: list[float] = []
        done = 0
        for number, line in aside:
            minutes.extend(map(begins, self._of["minute"][done:number]))
            done = number
            self._read_aside(number, line)
        minutes.extend(map(begins, self._of["minute"][done:]))
        return list(map(add, minutes, map(float if self._messages.shape.digits else _NUMBERS.__getitem__, self._of["second"])))

    def _read_aside(self, number: int, line: bytes) -> None:
        """What is none of the many; it may forbid to take anything together."""
        event = self._reader.one(line)
        if event is None:
            return
        ends_by_text = event.op is Op.END and event.key is None
        if event.host != self._messages.shape.host or event.op in _UNSURE or event.op is Op.START or ends_by_text:
            raise _Unsure
        if event.op in _TOUCHING:
            self._touched.add(b"%d" % event.pid)
        self._left.append((number, 0, -1, event))

    def _lines(self, what: str, child: str) -> Lines:
        """Those that have this, and all of them a number."""
        chosen = self._of[what]
        rows = list(compress(count(), chosen))
        times, pids = list(compress(self._times, chosen)), list(compress(self._of["pid"], chosen))
        children = list(filter(None, self._of[child]))
        if len(children) != len(rows):
            raise _Unsure
        return Lines(rows, times, pids, children)

    def _keep(self, row: int, place: int = -1) -> None:
        """A job's line that stays an event; of an end with a number, nobody asks for the text."""
        of, op = self._of, Op.START if place >= 0 else Op.END
        number = of["child"][row] or of["ended"][row]
        pid, child = int(of["pid"][row]), int(number or 0)
        event = self._messages.of(op, of["user"][row], of["began"][row] or of["finished"][row] or b" ")
        if event is None:
            raise _Unsure
        event = event._replace(at=self._times[row], key=(pid, child) if number else None, pid=pid, child=child)
        self._left.append((row, 1, place, event))

    def _whose(self, op: Op, what: str) -> list[int]:
        """The shares of all lines that have this."""
        texts = zip(compress(self._of["user"], self._of[what]), filter(None, self._of[what]), strict=True)
        return list(map(self._numbered[op].__getitem__, texts))

    def _by_number(self) -> _Runs:
        """Runs whose ends are joined to their starts by process numbers."""
        if any(self._of["finished"]):
            raise _Unsure
        starts, whose = self._lines("began", "child"), self._whose(Op.START, "began")
        ends, places, waiting, strays = joined(starts, self._lines("ended", "ended"), self._touched)
        for place in waiting:
            self._keep(starts.row[place], place)
        for row in strays:
            self._keep(row)
        closed = [whose[place] for place in places], [starts.at[place] for place in places], ends.at
        return _Runs(starts.at, whose, *closed, b" ".join(ends.pid))

    def _by_text(self) -> _Runs:
        """Runs whose ends are known by their text alone."""
        at, whose = list(compress(self._times, self._of["began"])), self._whose(Op.START, "began")
        runs = _Runs(at, whose, [], [], [], b"")
        rows, ends = (list(compress(count(), self._of[what])) for what in ("began", "finished"))
        ends_of = _grouped(ends, self._whose(Op.END, "finished"))
        starts_of = _grouped(rows, whose)
        for number, share in enumerate(self._shares.all):
            if share.pairing is not Pairing.GOOD:
                continue
            started, ended, left, leading = self._pairs(starts_of.get(number, []), ends_of.get(number, []))
            share.alive = leading if started else None
            runs.closed.extend(repeat(number, len(started)))
            runs.begun.extend(map(self._times.__getitem__, started))
            runs.ended.extend(map(self._times.__getitem__, ended))
            for row in left if number in ends_of else self._findable(left):
                self._keep(row, bisect_left(rows, row) if self._of["began"][row] else -1)
        return runs

    def _pairs(self, starts: list[int], ends: list[int]) -> Alternating:
        """The sure pairs of one subject by the order of its lines, of runs of which nothing else is told."""
        started, ended, left, leading = alternating(starts, ends)
        if not self._are_near(started, ended):
            return Alternating([], [], sorted((*starts, *ends)), leading)
        if not self._touched:
            return Alternating(started, ended, left, leading)
        pids = self._of["pid"]
        told = [pids[row] in self._touched for row in ended]
        plain = [not each for each in told]
        left = sorted((*left, *compress(started, told), *compress(ended, told)))
        return Alternating(list(compress(started, plain)), list(compress(ended, plain)), left, leading)

    def _are_near(self, starts: list[int], ends: list[int]) -> bool:
        """Whether each end was logged by a process that can be the parent of the one that logged the start."""
        pids = self._of["pid"]
        children, parents = (list(map(int, map(pids.__getitem__, rows))) for rows in (starts, ends))
        far = (between for between in map(sub, children, parents) if not 0 < between <= NEAR)
        return all(-between > WRAP for between in far)

    def _findable(self, starts: list[int]) -> Iterator[int]:
        """Of many starts of one subject without any end, those that an end may still find, or a session."""
        since = self._times[-1] - APART
        return (row for number, row in enumerate(starts, LONGEST_QUEUE) if number >= len(starts) or self._times[row] >= since)

    def _batch(self, runs: _Runs, *, bare: bool) -> Batch:
        shares = self._shares.all
        _count(shares, runs)
        left = sorted(self._left, key=itemgetter(0, 1))
        return Batch(
            host=self._messages.shape.host,
            first=min([runs.at[0], *(each[3].at for each in left[:1])]),
            last=max([self._times[-1], *(each[3].at for each in left[-1:])]),
            shares=shares,
            begun=array("d", runs.at),
            whose=array("I", runs.whose),
            left=[each[2:] for each in left],
            met=list(_met(runs)),
            pids=runs.pids,
            bare=bare,
            stamps=tuple((self._stamp(row), self._times[row]) for row in (0, -1)),
        )

    def _stamp(self, row: int) -> bytes:
        return self._of["minute"][row] + b":" + self._of["second"][row] + self._messages.shape.zone


def _grouped(rows: list[int], whose: list[int]) -> dict[int, list[int]]:
    """The rows of each share."""
    found: dict[int, list[int]] = {number: [] for number in set(whose)}
    for number, row in zip(whose, rows, strict=True):
        found[number].append(row)
    return found


def _count(shares: list[Share], runs: _Runs) -> None:
    """Notes for each share its starts, and what is known of its closed runs."""
    for number, times in Counter(runs.whose).items():
        shares[number].count = times
    begun: list[list[float]] = [[] for _ in shares]
    seconds: list[list[float]] = [[] for _ in shares]
    ended = [0.0] * len(shares)
    for number, start, end in zip(runs.closed, runs.begun, runs.ended, strict=True):
        begun[number].append(start)
        seconds[number].append(end - start)
        ended[number] = end
    for share, starts, lasted, end in zip(shares, begun, seconds, ended, strict=True):
        if starts:
            share.ended, share.seconds = end, Counter(lasted)
            share.slope.add(starts, lasted)


def _met(runs: _Runs) -> Iterator[tuple[int, float, float]]:
    """The closed runs that lived at the next start after their own."""
    moments = list(dict.fromkeys(runs.at))
    following = dict(pairwise(moments))
    nexts = map(following.get, runs.begun, repeat(inf))
    return (each[:3] for each in zip(runs.closed, runs.begun, runs.ended, nexts, strict=False) if each[2] > each[3])
