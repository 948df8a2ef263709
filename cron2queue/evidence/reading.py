"""Log files as events: finds the lines that matter, by the thousand, and lets the formats read them.

Three envelopes are known: syslog lines (RFC 3164, ISO 8601 and RFC 5424, with or without priority and host, mixed), JSON of
`journalctl -o json`, and files that one format claims as a whole.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from cron2queue.discovery import members
from cron2queue.evidence.log_format import ENDLESS, NO_FIELDS, Event, Fields, LogFormat, Op, Subjects
from cron2queue.evidence.stamps import LATEST, PRIORITY, STAMP, Clock, NoStamp
from cron2queue.text import to_bytes

_SHAPE = re.compile(
    rb"\n(?:(?P<rfc>[A-Z][a-z]{2} [ \d]\d [\d:]{8})|(?P<iso>\d{4}-[\dT:.,+Z-]{15,40})) [^ \n:\[<]{1,255} (?!\w+\.\w+ )"
)
_PROBES = 12


def new_formats() -> list[LogFormat]:
    """One instance of each format, for one look, in the order in which they are asked."""
    return sorted((kind() for kind in members("cron2queue.evidence.log_formats", LogFormat)), key=lambda each: each.rank)


class Formats:
    """The formats of one look, found by tag."""

    def __init__(self, formats: Sequence[LogFormat]) -> None:
        self.all = formats
        self._syslog = [(re.compile(rb"(?:%s)(?=\[)" % b"|".join(each.tags)), each) for each in formats if each.tags]
        self._by_tag: dict[bytes, tuple[LogFormat, ...]] = {}
        self._subjects = Subjects()
        self.tags = b"|".join(sorted({tag for each in formats for tag in each.tags}))

    def of_tag(self, tag: bytes) -> tuple[LogFormat, ...]:
        """Those that know this syslog tag, in the order in which they are asked."""
        known = self._by_tag.get(tag)
        if known is None:
            # a tag's lookahead sees the message, so that only its own words are compared here
            known = tuple(each for pattern, each in self._syslog if _names(pattern, tag))
            if len(self._by_tag) < 1_000:
                self._by_tag[tag] = known
        return known

    def read(self, at: float, host: bytes, tag: bytes, pid: int, text: bytes, fields: Fields) -> Event | None:
        """What a message says to the first that understands it."""
        for each in self.of_tag(tag):
            event = each.read(at, pid, text, fields) or each.job(at, pid, text, self._subjects)
            if event is not None:
                return tuple.__new__(Event, (*event[:7], host, each.name))
        return None

    def job(self, tag: bytes, verb: bytes, numbered: bool) -> tuple[Op, str, str | None] | None:
        """Op, format and detail of a message `(user) VERB (command)`; None for the formats themselves to say."""
        for each in self.of_tag(tag):
            if verb in each.jobs and each.numbered == numbered:
                return each.jobs[verb], each.name, ENDLESS if each.endless else None
        return None

    def verbs(self, tag: bytes) -> dict[bytes, Op]:
        """What `(user) VERB (command)` means with this tag, by the verb."""
        return {verb: op for each in self.of_tag(tag) for verb, op in each.jobs.items()}

    def sessions(self, tag: bytes) -> list[bytes]:
        """How the messages of sessions begin with this tag."""
        return [each.session for each in self.of_tag(tag) if each.session]

    def claiming(self, head: bytes) -> LogFormat | None:
        """The format that claims a whole file which begins so."""
        return next((each for each in self.all if each.claims(head)), None)


def _names(pattern: re.Pattern[bytes], tag: bytes) -> bool:
    found = pattern.match(tag + b"[1]: cron-")
    return found is not None and found.end() == len(tag)


class SyslogReader:
    """Reads blocks of syslog lines of one file."""

    def __init__(self, formats: Formats, clock: Clock) -> None:
        self._formats = formats
        self._seconds = clock.seconds
        self._jobs: dict[tuple[bytes, bytes, bool], tuple[Op, str, str | None] | None] = {}
        self._subjects = Subjects()
        said = rb"(?:\(([^ )\n]{1,64})\) ([A-Z]{3,6}) \((?:\[(\d{1,9})\] )?)?([^\n]*)"
        self._tail = rb"(" + formats.tags + rb")(?:\[(\d{1,9})\])?: " + said
        self._rfc = re.compile(rb"\n(.{15}) (\S+) " + self._tail)
        self._iso: dict[int, re.Pattern[bytes]] = {}
        self._any = re.compile(
            rb"\n" + PRIORITY + rb"(" + STAMP + rb") +(?:([^ \n\[]{1,255}) +)??(?:\w{1,10}\.\w{1,10} )?"
            rb"(" + formats.tags + rb")(?:[\[ ](\d{1,9}))?(?:\]?:| \S{1,32} -) " + said
        )
        self.bad_stamps = 0

    def events(self, block: bytes) -> list[Event]:
        """What the block's lines say; it begins with a line feed and ends without.

        The loop is written for speed: most lines are jobs, and most of them are known but for time and number.
        """
        found: list[Event] = []
        append, new, kind, jobs, known = found.append, tuple.__new__, Event, self._jobs, self._subjects.known
        last, at = b"", 0.0
        for stamp, host, tag, pid, user, verb, child, rest in self._pattern(block).findall(block):
            if stamp != last:
                try:
                    at, last = self._seconds(stamp), stamp
                except NoStamp:
                    self.bad_stamps += 1
                    continue
            job = jobs.get((tag, verb, child != b"")) if verb else None
            if job is not None:
                op, source, detail = job
                pid, subject = int(pid or 0), known.get((user, rest))
                if subject is None:
                    subject = self._subjects.of(user, rest)
                if child:
                    child = int(child)
                    append(new(kind, (at, op, (pid, child), subject, pid, child, detail, host, source)))
                else:
                    append(new(kind, (at, op, None, subject, pid, 0, detail, host, source)))
                continue
            event = self._other(at, host, tag, pid, whole(user, verb, child, rest))
            if event is not None:
                append(event)
            self._learn(tag, verb, numbered=child != b"")
        return found

    def one(self, line: bytes) -> Event | None:
        """What a single line says, of whatever shape."""
        found = self._any.match(b"\n" + line)
        if found is None:
            return None
        stamp, host, tag, pid, user, verb, child, rest = (part or b"" for part in found.groups())
        return self._other(self._seconds(stamp), host, tag, pid, whole(user, verb, child, rest))

    def _other(self, at: float, host: bytes, tag: bytes, pid: bytes, text: bytes) -> Event | None:
        return self._formats.read(at, host, tag, int(pid or 0), text, NO_FIELDS)

    def _learn(self, tag: bytes, verb: bytes, *, numbered: bool) -> None:
        """From now on such messages need no asking."""
        if verb and (tag, verb, numbered) not in self._jobs and len(self._jobs) < 1_000:
            self._jobs[tag, verb, numbered] = self._formats.job(tag, verb, numbered)

    def _pattern(self, block: bytes) -> re.Pattern[bytes]:
        """A pattern for just the shape of this block's lines, where they look alike; it is several times faster."""
        places = (*range(0, len(block), max(1, len(block) // _PROBES)), len(block))  # the stamps may change at any line
        shapes = {_shape(block, place) for place in places}
        shape = shapes.pop()
        if shapes or shape == 0:
            return self._any
        if shape == 15:
            return self._rfc
        if shape not in self._iso:
            self._iso[shape] = re.compile(rb"\n(\d{4}-.{%d}) (\S+) " % (shape - 5) + self._tail)
        return self._iso[shape]


def whole(user: bytes, verb: bytes, child: bytes, rest: bytes) -> bytes:
    """The message as it was before the pattern took it apart."""
    if not verb:
        return rest
    return b"(%s) %s (%s%s" % (user, verb, b"[%s] " % child if child else b"", rest)


def _shape(block: bytes, place: int) -> int:
    """The length of the stamp of the first line after this place, when host and tag follow it; else 0."""
    start = block.find(b"\n", place)
    if start < 0:
        start = block.rfind(b"\n")
    found = _SHAPE.match(block, start)
    if found is None:
        return 0
    return 15 if found["rfc"] else len(found["iso"])


class JournalReader:
    """Reads lines of `journalctl -o json`."""

    def __init__(self, formats: Formats) -> None:
        self._formats = formats
        self._boot = ""
        self.not_json = 0

    def events(self, block: bytes) -> list[Event]:
        """What the block's lines say."""
        found: list[Event] = []
        for line in block.split(b"\n"):
            if b"cron" in line or b"CRON" in line:
                found.extend(self._line(line))
        return found

    def _line(self, line: bytes) -> Iterator[Event]:
        try:
            record = json.loads(line)
            at = _moment(record["__REALTIME_TIMESTAMP"])
        except (OverflowError, ValueError, KeyError, TypeError, RecursionError):
            self.not_json += 1
            return
        fields = {name: _text(value) for name, value in record.items() if name != "MESSAGE"}
        host = to_bytes(fields.get("_HOSTNAME", ""))
        boot = fields.get("_BOOT_ID", "")
        if boot and self._boot and boot != self._boot:
            yield Event(at, Op.REBOOT, host=host, source="journal")
        self._boot = boot or self._boot
        event = self._formats.read(at, host, _tag(fields), _number(fields), _message(record.get("MESSAGE")), fields)
        if event is not None:
            yield event


def _tag(fields: dict[str, str]) -> bytes:
    unit = fields.get("UNIT") or fields.get("_SYSTEMD_UNIT", "")
    if unit.startswith("cron-") and unit.endswith(".service"):
        return b"systemd"
    return to_bytes(fields.get("SYSLOG_IDENTIFIER") or fields.get("_COMM", ""))


def _number(fields: dict[str, str]) -> int:
    number = fields.get("SYSLOG_PID") or fields.get("_PID") or "0"
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0


def _text(value: Any) -> str:
    """A field as text; of a field that occurs twice, the first."""
    if isinstance(value, list):
        value = value[0] if value and not isinstance(value[0], int) else _message(value).decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else "" if value is None else str(value)


def _moment(value: Any) -> float:
    at = int(_text(value)) / 1e6
    if not 0 <= at < LATEST:
        raise NoStamp(str(value)[:100])
    return at


def _message(value: Any) -> bytes:
    """The message, which is a list of byte values when it is not UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, list) and all(isinstance(each, int) and 0 <= each < 256 for each in value):
        return bytes(value)
    return b""


class ClaimedReader:
    """Reads the lines of a file that one format claims."""

    def __init__(self, claimed: LogFormat, clock: Clock) -> None:
        self._format = claimed
        self._clock = clock
        self.bad_stamps = 0

    def events(self, block: bytes) -> list[Event]:
        """What the block's lines say."""
        found: list[Event] = []
        for line in block.split(b"\n"):
            try:
                event = self._format.read_line(line, self._clock)
                if event is not None and not 0 <= event.at < LATEST:
                    raise NoStamp(line[:100])
            except (ValueError, OverflowError):
                self.bad_stamps += 1
                continue
            if event is not None:
                found.append(event._replace(source=self._format.name))
        return found


Reader = SyslogReader | JournalReader | ClaimedReader


def reader_of(head: bytes, formats: Formats, clock: Clock) -> Reader:
    """The reader for a file whose first block is this."""
    text = head.lstrip(b"\n\x00")
    claimed = formats.claiming(text[:4096])
    if claimed is not None:
        return ClaimedReader(claimed, clock)
    if text.startswith(b"{") and (b'"__REALTIME_TIMESTAMP"' in text[:65_536] or b'"MESSAGE"' in text[:65_536]):
        return JournalReader(formats)
    return SyslogReader(formats, clock)
