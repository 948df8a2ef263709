"""The messages of one daemon on one host: how their lines look, and what they say; each is understood once."""

import re
from typing import NamedTuple

from cron2queue.evidence.log_format import Event, Op, Subjects
from cron2queue.evidence.reading import Formats

MARKS = (b"CRON", b"cron", b"Cron]", b"rate-lim")
"""One of them stands in each line that a format can read."""
_MOST_MESSAGES = 5_000
_NEVER = rb"(?!)"


class Shape(NamedTuple):
    """How the lines of a block begin: digits of the stamp's fraction (None: RFC 3164), the zone, and whose they are."""

    digits: int | None
    zone: bytes
    host: bytes
    tag: bytes

    @property
    def stamp(self) -> bytes:
        """A pattern that takes the stamp apart."""
        if self.digits is None:
            return rb"(?P<minute>.{12}):(?P<second>..)"
        return rb"(?P<minute>\d{4}-.{11}):(?P<second>%s)" % (rb"[0-5]\d\.\d{%d}" % self.digits if self.digits else b"..")

    @property
    def width(self) -> int:
        """How far the tag is from the end of the line before."""
        return len(self.zone) + len(self.host) + self._stamp_width + 3

    @property
    def _stamp_width(self) -> int:
        return 15 if self.digits is None else 19 + self.digits + bool(self.digits)

    def before(self, stamp: bytes = b"") -> bytes:
        """A pattern of a line up to its tag, with the tag."""
        return (stamp or rb".{%d}" % self._stamp_width) + re.escape(self.zone + b" " + self.host + b" " + self.tag)


class Messages:
    """The messages of lines of one shape, by their text. Bounded."""

    def __init__(self, shape: Shape, formats: Formats) -> None:
        self.shape = shape
        self._formats = formats
        self._subjects = Subjects()
        self._known: dict[tuple[Op, bytes, bytes], Event | None] = {}
        verbs = formats.verbs(shape.tag)
        self._verbs = {op: next((verb for verb, its in verbs.items() if its is op), b"") for op in (Op.START, Op.END)}
        starts, ends = (verb or _NEVER for verb in self._verbs.values())
        sessions = b"|".join(formats.sessions(shape.tag)) or _NEVER
        tag, number = re.escape(shape.tag), rb"\[(?P<pid>\d{1,9}+)\]"
        self.logger = re.compile(tag + number)
        self.jobs = re.compile(
            rb"%s(?<=\n%s)%s: \((?P<user>[^ )\n]{1,64}+)\) (?:" % (tag, shape.before(shape.stamp), number)
            + rb"%s (?:\(\[(?P<child>\d{1,9}+)\]|)(?P<began>.++)|" % starts
            + rb"%s (?:\(\[(?P<ended>\d{1,9}+)\] .*+" % ends
            + rb"(?:\n%s\[(?P=pid)\]: (?:%s).*+)?+|(?P<finished>\(.*+)))" % (shape.before(), sessions)
        )
        """Takes the line of a job apart: a start, with the number of its child or without, or an end, by number or by text.

        It begins with the tag, since what is rare is found fast, and takes the session along that is closed next. Groups
        cost most of the time, so each is taken only where it is needed.
        """
        alike = (b"|" + re.escape(mark) for mark in MARKS if mark[:1] == shape.tag[:1] and mark != shape.tag)
        self.sessions = re.compile(
            rb"((?:%s(?:(?<=\n%s)%s: (?:%s)|)%s).*+)" % (tag, shape.before(), number, sessions, b"".join(alike))
        )
        """Takes lines of sessions from the tag on, and, without a process, others from a mark that begins as the tag does.

        Each is taken to its end, so that a line full of marks is looked at once.
        """
        self.marks = tuple(mark for mark in MARKS if mark[:1] != shape.tag[:1])
        """Those that are to be looked for besides."""

    def of(self, op: Op, user: bytes, said: bytes) -> Event | None:
        """What a job's line says, by its user and what follows verb and child; None when it is no job.

        Behind a child stands a space, and else a bracket.
        """
        key = (op, user, said)
        if key not in self._known:
            if len(self._known) >= _MOST_MESSAGES:
                self._known.clear()
            self._known[key] = self._job(*key)
        return self._known[key]

    def _job(self, op: Op, user: bytes, said: bytes) -> Event | None:
        numbered = said.startswith(b" ")
        job = self._formats.job(self.shape.tag, self._verbs[op], numbered)
        if job is None or not (numbered or said.startswith(b"(")):
            return None
        subject = self._subjects.of(user, said[1:])
        if op is Op.END and subject.cut and not numbered:
            return None  # it may be the end of several
        return Event(0.0, op, None, subject, 0, 0, job[2], self.shape.host, job[1])
