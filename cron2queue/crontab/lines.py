"""The lines of a crontab file: every byte is in exactly one of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from cron2queue.crontab.schedule import Schedule
from cron2queue.record import Record, computed
from cron2queue.text import to_bytes

EntryId = str
EntryPlace = tuple[str, int] | tuple[str, int, int]
"""Path and line of an entry, and for the second and later ones of one physical line which of them it is."""


class Kind(StrEnum):
    """SYSTEM lines name a user before the command, USER lines do not."""

    SYSTEM = "system"
    USER = "user"


class Effect(StrEnum):
    """How far a bad line reaches: the daemon ignores the whole FILE, that LINE, or runs it other than it reads (MISREAD)."""

    FILE = "file"
    LINE = "line"
    MISREAD = "misread"


class Malformed(Record):
    """A line (or a piece of one) that the daemon refuses or misreads.

    `message` is in the daemon's own words; `column` is 1-based within the physical line.
    """

    number: int
    raw: bytes
    column: int
    message: str
    effect: Effect
    remedy: str


class Entry(Record):
    """A line that runs something.

    `command` is what the shell gets and `stdin` what it reads (None: nothing given); `command_text` is as written,
    from the 1-based `command_column` on. `environment` is what is in force there, the daemon's own settings included
    as far as the text tells them. `quiet`: the daemon does not log the run. `misread`: what the daemon complained of
    and still ran. `options`: words before the command that the daemon itself takes (-n, -q, -s). `nth`: which entry of its
    physical line it is; a NUL byte ends one for some daemons, and the next begins behind it.
    """

    number: int
    raw: bytes
    schedule: Schedule
    schedule_text: str
    user: str | None
    command: str
    stdin: str | None
    environment: Mapping[str, str]
    command_text: str
    command_column: int
    quiet: bool = False
    fields: tuple[str, ...] = ()
    misread: tuple[Malformed, ...] = ()
    options: tuple[str, ...] = ()
    nth: int = 1

    @property
    def fingerprint(self) -> EntryId:
        """The same for the same schedule text, user and command, wherever the line stands."""
        parts = (" ".join(self.schedule_text.split()), self.user or "", self.command_text)
        return hashlib.sha256(b"\0".join(to_bytes(part) for part in parts)).hexdigest()[:16]


class Assignment(Record):
    """A line that sets an environment variable for the entries after it."""

    number: int
    raw: bytes
    name: str
    value: str


class Comment(Record):
    """A line that the daemon skips; `text` is what follows the #."""

    number: int
    raw: bytes
    text: str


class Blank(Record):
    """A line of blanks."""

    number: int
    raw: bytes


Line = Entry | Assignment | Comment | Blank | Malformed


class CrontabFile(Record):
    """One crontab as one dialect reads it.

    `loaded` is False when this daemon ignores the whole file; then `why` says so in its words. `notes` tell what was
    assumed, and warnings that change nothing. `editable` is False for what is no crontab text (run-parts folders) or
    not read by cron itself (anacrontab).
    """

    path: str
    dialect: str
    kind: Kind
    lines: tuple[Line, ...]
    loaded: bool = True
    why: str | None = None
    notes: tuple[str, ...] = ()
    host: str | None = None
    zone: str | None = None
    editable: bool = True
    entries: tuple[Entry, ...] = computed()
    """The lines that run something: found once, for they are asked for at every bad line."""
    malformed: tuple[Malformed, ...] = computed()
    """All that the daemon refuses or misreads, in order; an entry that it runs misread is told of here too."""
    assignments: tuple[Assignment, ...] = computed()
    """The lines that set a variable: found once, for the plan asks for them at every entry."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(line for line in self.lines if isinstance(line, Entry)))
        object.__setattr__(self, "malformed", self._malformed())
        object.__setattr__(self, "assignments", tuple(line for line in self.lines if isinstance(line, Assignment)))

    @property
    def comments(self) -> tuple[Comment, ...]:
        """The comment lines."""
        return tuple(line for line in self.lines if isinstance(line, Comment))

    def _malformed(self) -> tuple[Malformed, ...]:
        found: list[Malformed] = []
        for line in self.lines:
            if isinstance(line, Malformed):
                found.append(line)
            elif isinstance(line, Entry):
                found.extend(line.misread)
        return tuple(found)

    @property
    def counts(self) -> dict[str, int]:
        """Lines by what they are; `lines` is the sum of the others. A line read in pieces is what its last piece is."""
        kinds = Counter({line.number: type(line) for line in self.lines}.values())
        return {
            "lines": kinds.total(),
            "entries": kinds[Entry],
            "assignments": kinds[Assignment],
            "comments": kinds[Comment],
            "blank": kinds[Blank],
            "malformed": kinds[Malformed],
        }

    def to_bytes(self) -> bytes:
        """The bytes that were read, all of them."""
        return b"".join(line.raw for line in self.lines)


def place_of(path: str, entry: Entry) -> EntryPlace:
    """What no other entry has."""
    return (path, entry.number) if entry.nth == 1 else (path, entry.number, entry.nth)


class EntryIds(Mapping[EntryPlace, EntryId]):
    """An id for each entry by its place, kept by files: a fleet has hundreds of thousands of places."""

    __slots__ = ("_of_file",)

    def __init__(self, files: Iterable[CrontabFile]) -> None:
        seen: Counter[str] = Counter()
        self._of_file: dict[str, dict[int | tuple[int, ...], EntryId]] = {}
        for file in files:
            here = self._of_file.setdefault(file.path, {})
            for entry in file.entries:
                fingerprint = entry.fingerprint
                seen[fingerprint] += 1
                again = seen[fingerprint]
                here[_in_file(entry)] = fingerprint if again == 1 else f"{fingerprint}-{again}"

    def of(self, path: str, entry: Entry) -> EntryId:
        """That of an entry of the file with this path."""
        return self._of_file[path][_in_file(entry)]

    def __getitem__(self, place: EntryPlace) -> EntryId:
        path, number, *nth = place
        return self._of_file[path][(number, *nth) if nth else number]

    def __iter__(self) -> Iterator[EntryPlace]:
        for path, ids in self._of_file.items():
            for place in ids:
                yield (path, place) if isinstance(place, int) else (path, place[0], place[1])

    def __len__(self) -> int:
        return sum(map(len, self._of_file.values()))


def _in_file(entry: Entry) -> int | tuple[int, ...]:
    return entry.number if entry.nth == 1 else (entry.number, entry.nth)


def entry_ids(files: Iterable[CrontabFile]) -> EntryIds:
    """An id for each entry by its place: its fingerprint, with -2, -3 ... for further identical ones."""
    return EntryIds(files)
