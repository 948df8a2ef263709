"""Blocks of a syslog that is cron's throughout, read into batches: the way of the millions of lines that are all alike.

What a line says, the formats say, as for single events; each message is asked for once. Here is only found which lines
are plain pairs, so that nothing in the block could make anything else of them. Where that is not sure there is no batch,
and the block is read line by line.
"""

import re
from itertools import pairwise
from math import inf

from cron2queue.evidence.batch import Batch, Share
from cron2queue.evidence.log_format import ENDLESS, Event, Op
from cron2queue.evidence.messages import Kind, Message, Messages, Row, restored
from cron2queue.evidence.pairing import LONGEST_QUEUE
from cron2queue.evidence.reading import Formats, SyslogReader
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.sessions import APART
from cron2queue.evidence.stamps import Clock, NoStamp

_LIKE = re.compile(
    rb"\n(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d):\d\d(?:\.\d{1,9})?"
    rb"((Z|[+-]\d\d:?\d\d|) ([^ \n:\[<]{1,255}) ([^ \n\[]{1,40})\[)"
)
_REST = 30  # blocks that are not tried after one that was of no use
_UNSURE = frozenset({Op.REBOOT, Op.RESTARTED, Op.LOST})
_TOUCHING = frozenset({Op.FAILED, Op.WROTE})


class _Unsure(Exception):
    """The block is to be read line by line."""


class _ByText:
    """The lines of one subject whose ends are found by their text: sure where one run is over before the next begins."""

    __slots__ = ("_beside", "_ends", "_starts", "_together", "_waiting", "left", "loggers", "share")

    def __init__(self, share: Share) -> None:
        share.alive, share.pairing = 0, Pairing.GOOD
        self.share = share
        self.left: list[Row] = []
        self.loggers: list[bytes] = []
        self._together: list[Row] = []
        """Lines since the last moment at which nothing ran."""
        self._waiting = self._starts = self._ends = 0
        self._beside = False

    def start(self, row: Row) -> None:
        """A start."""
        self._starts += 1
        self._waiting += 1
        self._beside = self._beside or self._waiting > 1
        self._together.append(row)

    def end(self, row: Row, *, touched: bool) -> None:
        """An end; `touched`: it is not like any other."""
        self._ends += 1
        if not self._waiting:
            self.share.alive = (self.share.alive or 0) + (not self._starts)
            self.left.append(row)
            return
        self._waiting -= 1
        self._beside = self._beside or touched
        self._together.append(row)
        if self._waiting:
            return
        if self._beside:
            self.left.extend(self._together)
        else:
            self.share.starts.append(self._together[0][2])
            self.share.ends.append(row[2])
            self.loggers.append(row[4])
        self._together.clear()
        self._beside = False

    def rest(self, recent: float) -> list[Row]:
        """What stays after the closed runs; of many starts without any end, those that an end may still find."""
        if not self.share.starts:
            self.share.alive = None
        if self._ends:
            return [*self.left, *self._together]
        old = self._together[:-LONGEST_QUEUE]
        return [row for row in old if row[2] >= recent] + self._together[-LONGEST_QUEUE:]


class Condenser:
    """Makes batches of the blocks of one file."""

    def __init__(self, reader: SyslogReader, formats: Formats, clock: Clock) -> None:
        self._reader = reader
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
        if like is None or block.count(like[1]) * 2 < block.count(b"\n"):
            return None
        before = self._clock.state()
        try:
            found = _Look(self._known(like[3], like[4]), self._reader, self._clock, like[2]).read(block)
        except (_Unsure, NoStamp):
            found = None
        if found is None:
            self._clock.restore(before)
            self._resting = _REST
            return None

        def again() -> list[Event]:
            self._clock.restore(before)
            return self._reader.events(block)

        found.events = again
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

    def __init__(self, messages: Messages, reader: SyslogReader, clock: Clock, zone: bytes) -> None:
        self._messages = messages
        self._reader = reader
        self._clock = clock
        self._zone = zone
        self._shares: dict[tuple[object, str], int] = {}
        self._used: list[Message] = []
        self.shares: list[Share] = []
        self.begun: list[float] = []
        self.whose: list[int] = []
        self.pids: list[bytes] = []
        self.left: list[Row] = []
        self.events: list[tuple[int, int, Event]] = []
        self._alive: dict[bytes, Row] = {}
        self._opened: dict[bytes, Row] = {}
        self._keyed: set[bytes] = set()
        self._touched: set[bytes] = set()
        self._by_text: dict[int, _ByText] = {}

    def read(self, block: bytes) -> Batch | None:
        """The block in short, or None when that is of no use."""
        try:
            last = self._lines(self._messages.pattern(self._zone).findall(block))
        finally:
            for message in self._used:
                message.number = -1
        return self._batch(last)

    def _lines(self, rows: list[tuple[bytes, ...]]) -> float:
        """All lines; the loop is written for speed, and does what is done for most of them."""
        plain, numbered, learn = self._messages.plain.get, self._messages.numbered.get, self._messages.learn
        alive, keyed, touched, shares = self._alive, self._keyed, self._touched, self.shares
        began, belongs, ended = self.begun.append, self.whose.append, self.pids.append
        keyed_start, keyed_end = Kind.KEYED_START, Kind.KEYED_END
        minute, base, at, latest, number = b"none yet", 0.0, 0.0, -inf, 0
        for stamp, second, pid, verb, child, rest, line in rows:
            number += 1
            if stamp != minute:
                if not stamp:
                    latest = self._line(number, latest, line)
                    continue
                minute, base = stamp, self._clock.minute(stamp, self._zone)
            at = base + float(second)
            if at < latest:
                raise _Unsure
            latest = at
            message = (numbered if child else plain)((verb, rest)) or learn(verb, child, rest)
            kind = message.kind
            if kind is keyed_start:
                share = message.number if message.number >= 0 else self._share(message)
                if pid in alive:
                    self._used_again(alive[pid], child)
                alive[pid] = (number, len(self.begun), at, message, pid, child)
                began(at)
                belongs(share)
                keyed.add(pid)
            elif kind is keyed_end and pid in alive and alive[pid][5] == child and pid not in touched:
                start = alive.pop(pid)
                closed = shares[start[3].number]
                closed.starts.append(start[2])
                closed.ends.append(at)
                ended(pid)
            else:
                self._rare((number, -1, at, message, pid, child), verb, rest)
        return latest

    def _used_again(self, before: Row, child: bytes) -> None:
        """The number of a process that has not been seen to end."""
        if before[5] == child:
            raise _Unsure
        self.left.append(before)

    def _share(self, message: Message) -> int:
        """The number of the message's share, from now on."""
        subject, source = message.event.subject, message.event.source
        number = self._shares.get((subject, source))
        if number is None:
            if subject is None:
                raise _Unsure
            number = self._shares[subject, source] = len(self.shares)
            self.shares.append(Share(subject=subject, source=source))
        message.number = number
        self._used.append(message)
        return number

    def _rare(self, row: Row, verb: bytes, rest: bytes) -> None:
        kind, pid = row[3].kind, row[4]
        if kind is Kind.KEYED_END:
            self._keyed.add(pid)
            self.left.append(row)
        elif kind is Kind.OPENED:
            self._opened[pid] = row
        elif kind is Kind.CLOSED:
            if pid not in self._keyed or pid in self._touched:
                self.left.append(row)
        elif kind is Kind.OTHER:
            text = verb + (b"[%s] " % row[5] if row[5] else b"") + rest
            self._event(row[0], self._messages.other(row[2], pid, text), pid)
        else:
            self._of_text(row)

    def _of_text(self, row: Row) -> None:
        kind, message = row[3].kind, row[3]
        share = message.number if message.number >= 0 else self._share(message)
        if kind is not Kind.END:
            row = (row[0], len(self.begun), *row[2:])
            self.begun.append(row[2])
            self.whose.append(share)
        if kind is Kind.ENDLESS:
            return
        by_text = self._by_text.get(share)
        if by_text is None:
            by_text = self._by_text[share] = _ByText(self.shares[share])
        if kind is Kind.START:
            by_text.start(row)
        else:
            by_text.end(row, touched=row[4] in self._touched)

    def _line(self, number: int, latest: float, line: bytes) -> float:
        """A line of another shape or daemon; the time of its event."""
        event = self._reader.one(line)
        if event is None:
            return latest
        if event.at < latest or event.host != self._messages.host:
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
        sessions = [row for pid, row in self._opened.items() if pid not in self._keyed]
        rows = [*self.left, *self._alive.values(), *sessions]
        if self._by_text and any(row[3].kind in (Kind.OPENED, Kind.CLOSED) for row in rows):
            return None  # they are paired by their sessions
        for by_text in self._by_text.values():
            rows.extend(by_text.rest(last - APART))
            self.pids.extend(by_text.loggers)
        closed = sum(len(share.starts) for share in self.shares)
        if not self.begun or len(rows) > closed + len(self.begun) // 2:
            return None
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
            bare=bool(self._by_text),
            events=list,
        )

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
