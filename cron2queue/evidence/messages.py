"""The messages of one daemon on one host: each is understood once, and known again in all its lines."""

import re
from enum import IntEnum

from cron2queue.evidence.log_format import ENDLESS, NO_FIELDS, Event, Op, Subjects
from cron2queue.evidence.reading import Formats

_MOST_MESSAGES = 5_000
_NOTHING = Event(0.0, Op.REPORTS)


class Kind(IntEnum):
    """What is to be done with a line."""

    ENDLESS = 0
    KEYED_START = 1
    START = 2
    KEYED_END = 3
    END = 4
    OPENED = 5
    CLOSED = 6
    OTHER = 7


class Message:
    """What all lines of one text have in common, and, while a block is read, the number of their share in it."""

    __slots__ = ("event", "kind", "number")

    def __init__(self, kind: Kind, event: Event) -> None:
        self.kind = kind
        self.event = event
        self.number = -1


Row = tuple[int, int, float, Message, bytes, bytes]
"""Number of the line, place among the starts, time, message, logger, child."""


class Messages:
    """The messages of one daemon on one host, by their text; each is asked for once. Bounded."""

    def __init__(self, host: bytes, tag: bytes, formats: Formats) -> None:
        self.host = host
        self.tag = tag
        self.plain: dict[tuple[bytes, bytes], Message] = {}
        self.numbered: dict[tuple[bytes, bytes], Message] = {}
        self._formats = formats
        self._subjects = Subjects()
        self._pattern: dict[bytes, re.Pattern[bytes]] = {}

    def pattern(self, zone: bytes) -> re.Pattern[bytes]:
        """Takes each line apart: minute, seconds, logger, `(user) VERB (`, child and the rest; or the line as a whole."""
        if zone not in self._pattern:
            self._pattern[zone] = re.compile(
                rb"\n(?:([A-Z].{11}|\d{4}-.{11}):([0-5]\d(?:\.\d{1,9})?)"
                + re.escape(zone + b" " + self.host + b" " + self.tag)
                + rb"\[(\d{1,9})\]: (\([^ )\n]{1,64}\) [A-Z]{3,6} \(|)(?:\[(\d{1,9})\] |)(.*)|(.*))"
            )
        return self._pattern[zone]

    def learn(self, verb: bytes, child: bytes, rest: bytes) -> Message:
        """The message of this text, which may be remembered."""
        message = self._job(verb, child, rest) if verb else self._session(b"[%s] %s" % (child, rest) if child else rest)
        if message is None:
            return Message(Kind.OTHER, _NOTHING)
        known = self.numbered if child else self.plain
        if len(known) >= _MOST_MESSAGES:
            known.clear()
        known[verb, rest] = message
        return message

    def _job(self, verb: bytes, child: bytes, rest: bytes) -> Message | None:
        user, _, word = verb[1:-2].partition(b") ")
        job = self._formats.job(self.tag, word, child != b"")
        if job is None or job[0] not in (Op.START, Op.END):
            return None
        op, source, detail = job
        event = Event(0.0, op, None, self._subjects.of(user, rest), 0, 0, detail, self.host, source)
        if child:
            return Message(Kind.KEYED_START if op is Op.START else Kind.KEYED_END, event)
        if op is Op.END:
            return None if event.subject and event.subject.cut else Message(Kind.END, event)
        return Message(Kind.ENDLESS if detail == ENDLESS else Kind.START, event)

    def _session(self, text: bytes) -> Message | None:
        event = self._formats.read(0.0, self.host, self.tag, 1, text, NO_FIELDS)
        if event is None or event.op not in (Op.OPENED, Op.CLOSED):
            return None
        return Message(Kind.OPENED if event.op is Op.OPENED else Kind.CLOSED, event)

    def other(self, at: float, pid: bytes, text: bytes) -> Event | None:
        """What a message says that is none of the many."""
        return self._formats.read(at, self.host, self.tag, int(pid), text, NO_FIELDS)


def restored(row: Row) -> tuple[int, int, Event]:
    """The event of a line."""
    number, place, at, message, pid, child = row
    logger, of = int(pid), int(child or 0)
    key = (logger, of) if message.kind in (Kind.KEYED_START, Kind.KEYED_END) else None
    return number, place if message.kind <= Kind.START else -1, message.event._replace(at=at, key=key, pid=logger, child=of)
