"""Blocks of a syslog that is cron's throughout, read into batches: the way of the millions of lines that are all alike.

What a line says, the formats say, as for single events; each message is asked for once. Here is only found which lines
are plain pairs, so that nothing in the block could make anything else of them. Where that is not sure there is no batch,
and the block is read line by line.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from math import inf
from typing import cast

from cron2queue.evidence.batch import Batch, Share
from cron2queue.evidence.log_format import ENDLESS, Event, Op
from cron2queue.evidence.messages import Kind, Message, Messages, Row, restored
from cron2queue.evidence.pairing import LONGEST_QUEUE
from cron2queue.evidence.reading import Formats, SyslogReader
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.sessions import APART
from cron2queue.evidence.stamps import Clock, NoStamp, State

_LIKE = re.compile(
    rb"\n(?P<stamp>(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d):\d\d(?:\.\d{1,9})?)"
    rb"(?P<like>(?P<zone>Z|[+-]\d\d:?\d\d|) (?P<host>[^ \n:\[<]{1,255}) (?P<tag>[^ \n\[]{1,40})\[)"
)
_REST = 30  # blocks that are not tried after one that was of no use
_UNSURE = frozenset({Op.REBOOT, Op.RESTARTED, Op.LOST})
_START, _END = Kind.START, Kind.END
_TOUCHING = frozenset({Op.FAILED, Op.WROTE})


class _Unsure(Exception):
    """The block is to be read line by line."""


class _Crowd:
    """Lines of one subject from the moment at which two of its runs were alive, until none is: which end is whose?"""

    __slots__ = ("rows", "waiting")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.waiting = 0


def is_dense(text: bytes) -> bool:
    """Whether most lines look like the first that could be cron's: of the same host and daemon."""
    like = _LIKE.search(text)
    return like is not None and text.count(like["like"]) * 2 >= text.count(b"\n")


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
        self._messages: dict[bytes, Messages] = {}
        self._resting = 0

    def batch(self, block: bytes) -> Batch | None:
        """The block in short; None when it is better read line by line, and then the clock is where it was before."""
        if self._resting:
            self._resting -= 1
            return None
        like = _LIKE.search(block)
        if like is None or not is_dense(block):
            return None
        before = self._clock.state()
        try:
            found = _Look(self._known(like["host"], like["tag"]), self.reader, self._clock, like).read(block)
        except (_Unsure, NoStamp):
            found = None
        if found is None:
            self._clock.restore(before)
            self._resting = _REST
        return found

    def _known(self, host: bytes, tag: bytes) -> Messages:
        if len(self._messages) > 100:
            self._messages.clear()
        key = host + b" " + tag
        if key not in self._messages:
            self._messages[key] = Messages(host, tag, self._formats)
        return self._messages[key]


class _Look:
    """One block."""

    def __init__(self, messages: Messages, reader: SyslogReader, clock: Clock, like: re.Match[bytes]) -> None:
        self._messages = messages
        self._reader = reader
        self._clock = clock
        self._zone = like["zone"]
        self._first = self._latest = (like["stamp"] + like["zone"], clock.seconds(like["stamp"] + like["zone"]))
        self._numbers: dict[tuple[object, str], int] = {}
        self._used: list[Message] = []
        self.shares: list[Share] = []
        self.begun: list[float] = []
        self.whose: list[int] = []
        self.pids: list[bytes] = []
        self.left: list[Row] = []
        self.events: list[tuple[int, int, Event]] = []
        self._alive: dict[object, Row] = {}
        """The latest start without an end: by logger where a key joins both, else by the number of the share."""
        self._crowds: dict[object, _Crowd] = {}
        self._strays: list[tuple[int, Row]] = []
        """Ends by text that met no start, each with the number of its share; the place is that of the next start."""
        self._sessions: list[Row] = []
        self._touched: set[bytes] = set()

    def read(self, block: bytes) -> Batch | None:
        """The block in short, or None when that is of no use."""
        try:
            last = self._lines(self._messages.pattern(self._zone).findall(block))
            return self._batch(last)
        finally:
            for message in self._used:
                message.number = -1

    def _lines(self, rows: list[tuple[bytes, ...]]) -> float:
        """All lines; the loop is written for speed: most of them are starts and ends that fit."""
        plain, numbered, learn = self._messages.plain.get, self._messages.numbered.get, self._messages.learn
        alive, crowds, touched, shares = self._alive, self._crowds, self._touched, self.shares
        began, belongs, ended = self.begun.append, self.whose.append, self.pids.append
        minute, seconds, base, at, place = b"none", b"", 0.0, -inf, 0
        for number, (stamp, second, pid, verb, child, rest, line) in enumerate(rows):
            if second != seconds or stamp != minute:
                if not stamp:
                    at, seconds = self._line(number, at, line), b""
                    continue
                base = base if stamp == minute else self._clock.minute(stamp, self._zone)
                before, at, minute, seconds = at, base + float(second), stamp, second
                self._latest = stamp + b":" + second + self._zone, at
                if at < before:
                    raise _Unsure
            message = (numbered if child else plain)((verb, rest)) or learn(verb, child, rest)
            kind = message.kind
            if kind > _END:
                self._rare((number, place, at, message, pid, child), verb, rest)
                continue
            share = message.number if message.number >= 0 else self._share(message)
            key = pid if child else share
            if kind <= _START:
                began(at)
                belongs(share)
                if kind:
                    if key in alive:
                        self._beside(key, child)
                    alive[key] = (number, place, at, message, pid, child)
                place += 1
                continue
            start = alive.pop(key, None)
            if start is None or start[5] != child or pid in touched or key in crowds:
                self._unpaired(key, start, (number, place, at, message, pid, child))
                continue
            shares[share].starts.append(start[2])
            shares[share].ends.append(at)
            ended(pid)
        return at

    def _share(self, message: Message) -> int:
        """The number of the message's share, from now on."""
        subject, source = message.event.subject, message.event.source
        number = self._numbers.get((subject, source))
        if number is None:
            if subject is None:
                raise _Unsure
            number = self._numbers[subject, source] = len(self.shares)
            self.shares.append(Share(subject=subject, source=source))
        if message.kind in (Kind.START, Kind.END):
            self.shares[number].pairing = Pairing.GOOD
        message.number = number
        self._used.append(message)
        return number

    def _beside(self, key: object, child: bytes) -> None:
        """A start while another of the same key is alive."""
        before = self._alive[key]
        if not child:
            crowd = self._crowds.setdefault(key, _Crowd())
            crowd.rows.append(before)
            crowd.waiting += 1
        elif before[5] == child:
            raise _Unsure
        else:
            self.left.append(before)  # the logger's number is used again, so the first will not end here

    def _unpaired(self, key: object, start: Row | None, end: Row) -> None:
        """An end whose start is not sure, or that is not like any other."""
        crowd = self._crowds.get(key)
        if start is None:
            self.left.append(end)
            if isinstance(key, int):
                self._strays.append((key, end))
        elif crowd is not None and crowd.waiting:
            crowd.rows.append(end)
            crowd.waiting -= 1
            self._alive[key] = start
        elif start[5] != end[5]:
            self._alive[key] = start
            self.left.append(end)
        else:
            self.left += [*(crowd.rows if crowd else ()), start, end]
            self._crowds.pop(key, None)

    def _rare(self, row: Row, verb: bytes, rest: bytes) -> None:
        number, _, at, message, pid, child = row
        if message.kind is Kind.OTHER:
            text = verb + (b"[%s] " % child if child else b"") + rest
            self._event(number, self._messages.other(at, pid, text), pid)
        else:
            self._sessions.append(row)

    def _line(self, number: int, before: float, line: bytes) -> float:
        """A line of another shape or daemon; the time of its event, or that before it when it says nothing."""
        event = self._reader.one(line)
        if event is None:
            return before
        if event.at < before or event.host != self._messages.host:
            raise _Unsure
        self._event(number, event, b"%d" % event.pid)
        return event.at

    def _event(self, number: int, event: Event | None, pid: bytes) -> None:
        """What is none of the many; it may forbid to take anything together."""
        if event is None:
            return
        by_text = event.op in (Op.START, Op.END) and event.key is None and event.detail != ENDLESS
        if event.op in _UNSURE or by_text:
            raise _Unsure
        if event.op in _TOUCHING:
            self._touched.add(pid)
        self.events.append((number, -1, event))

    def _batch(self, last: float) -> Batch | None:
        by_text = [share for share in self.shares if share.pairing is Pairing.GOOD]
        rows = [*self.left, *self._sessions_left(), *self._waiting(last)]
        closed = sum(len(share.starts) for share in self.shares)
        if not self.begun or len(rows) > closed + len(self.begun) // 2:
            return None
        if by_text and any(row[3].kind in (Kind.OPENED, Kind.CLOSED) for row in rows):
            return None  # they are paired by their sessions
        left = sorted([*map(restored, rows), *self.events], key=lambda each: each[0])
        return Batch(
            host=self._messages.host,
            first=min([self.begun[0], *(each[2].at for each in left[:1])]),
            last=last,
            shares=self.shares,
            begun=self.begun,
            whose=self.whose,
            left=[each[1:] for each in left],
            met=self._met(),
            pids=self.pids,
            bare=bool(by_text),
            stamps=(self._first, self._latest),
        )

    def _sessions_left(self) -> list[Row]:
        """Sessions of which no command is known here that needs none, since it is logged by their own process."""
        if not self._sessions:
            return []
        keyed = {*self.pids, *self._alive.keys(), *(row[4] for row in self.left if row[5])}
        return [row for row in self._sessions if row[4] not in keyed or row[4] in self._touched]

    def _waiting(self, last: float) -> list[Row]:
        """Starts without an end; of many of one subject without any, those that an end may still find."""
        self._expect()
        ended = {key for key, _ in self._strays}
        rows = list(self._alive.values())
        for key, crowd in self._crowds.items():
            share = self.shares[cast("int", key)]
            many = not share.starts and key not in ended and crowd.waiting == len(crowd.rows)
            old = crowd.rows[: 1 - LONGEST_QUEUE] if many else []
            rows += [row for row in old if row[2] >= last - APART]
            rows += crowd.rows[len(old) :]
        return rows

    def _expect(self) -> None:
        """Notes for each share with closed runs how many of it must have been alive before: those that end first."""
        first: dict[int, int] = {}
        if self._strays:
            first = {share: place for place, share in reversed(list(enumerate(self.whose)))}
        leading = Counter(share for share, row in self._strays if row[1] <= first.get(share, row[1]))
        for number, share in enumerate(self.shares):
            if share.pairing is Pairing.GOOD and share.starts:
                share.alive = leading[number]

    def _met(self) -> list[tuple[int, float, float]]:
        """The closed runs that lived at the next start after their own."""
        moments = list(dict.fromkeys(self.begun))
        following = dict(pairwise(moments))
        return [
            (number, start, end)
            for number, share in enumerate(self.shares)
            for start, end in zip(share.starts, share.ends, strict=True)
            if end > following.get(start, inf)
        ]
