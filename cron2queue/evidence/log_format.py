"""What a log format is: it turns one line of a daemon's log into what happened.

To add one: a module in log_formats/ with one subclass of LogFormat and samples; nothing else is touched. A format reads
syslog messages by their tag (`tags` and `read`), or whole files that are not syslog (`claims` and `read_line`).
Formats are asked in the order of `rank`; the first that understands a message has it.
"""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from cron2queue.text import to_text


class Op(IntEnum):
    """What happened. A small integer, since it is looked up for every line of a log."""

    START = 0
    END = 1
    FAILED = 2
    """A bad end is announced; the END itself follows."""
    WROTE = 3
    """The run has written something; `detail` is the text, or None where the log only says that it could not be mailed."""
    OPENED = 4
    """A PAM session: its parent process M knows start and end, but not the command."""
    CLOSED = 5
    REFUSED = 6
    """The daemon did not start it, since the run before is alive."""
    REBOOT = 7
    RESTARTED = 8
    """The daemon was started anew, and the host perhaps too: what ran before may or may not be alive."""
    LOST = 9
    """So many messages as `detail` tells were dropped here, of the process `child` or of anybody (0), by a rate limit."""
    CHANGED = 10
    """A crontab was edited; `detail` is its user, or `*system*` and, of Debian's cron, the name in /etc/cron.d."""
    REPORTS = 11
    """This daemon reports `detail` ("output", "failures"), so that silence means none."""
    STAYED = 12
    """The host was not started anew together with the daemon, so that what ran before is alive."""


CUT_USER = "user cut"
"""The hint of a subject whose user's name may go on."""


class Subject(NamedTuple):
    """Whose command; as the daemon logs it. `cut`: the line ends before the command does."""

    user: str
    command: str
    cut: bool = False
    hint: str | None = None
    """Source's own name of the entry: a unit, an anacron job, the crontab line itself."""


class Ending(NamedTuple):
    """How a run ended, as far as its source tells."""

    exit_status: int | None = None
    signal: int | None = None
    output: bool | None = None
    cpu_seconds: float | None = None
    max_rss_bytes: int | None = None
    nothing_to_do: bool | None = None


NO_ENDING = Ending()


class Event(NamedTuple):
    """One thing that happened, `at` seconds since 1970 (UTC).

    `key` joins START and END where the source has such a thing; else they are joined by text or by session. `pid` is the
    process that logged it, `child` the process that the message names. The reader fills in `host` and `source`, the name
    of the format.
    """

    at: float
    op: Op
    key: Hashable = None
    subject: Subject | None = None
    pid: int = 0
    child: int = 0
    detail: object = None
    host: bytes = b""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a sample must give: one run. `seconds` None: no known duration."""

    user: str
    command: str
    seconds: float | None = None
    exit_status: int | None = None
    signal: int | None = None
    output: bool | None = None
    pairing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Lines as the daemon writes them, and the runs that they show, in the order of their starts."""

    lines: str
    runs: tuple[Seen, ...]


ENDLESS = "endless"
UNMAILED = "unmailed output"
"""Reported by a source that tells of output only where it was to be mailed: not of that of entries with MAILTO=""."""
_MOST_REMEMBERED = 4 << 20  # bytes
_LONGEST_COMMAND = 2_048  # what is longer is matched by its beginning, as if syslog had cut it
_JOB = re.compile(rb"\A\(([^ )]{1,64})\) ([A-Z]{3,6}) \((?:\[(\d{1,9})\] )?(.*)", re.DOTALL)
Fields = Mapping[str, str]
NO_FIELDS: Fields = {}


class LogFormat:
    """One way in which a daemon (or our own recorder) logs its jobs; one instance for each look."""

    name: ClassVar[str]
    tags: ClassVar[tuple[bytes, ...]] = ()
    """Regular expressions of its syslog tags (linear, no groups); none when the format is not syslog."""
    rank: ClassVar[int] = 50
    jobs: ClassVar[Mapping[bytes, Op]] = {}
    """The verbs of messages `(user) VERB (command)`: these are read by the thousand, without asking the format."""
    numbered: ClassVar[bool] = False
    """The command in `jobs` stands behind its process's number: `([82] command)`; logger and number are the key."""
    endless: ClassVar[bool] = False
    """Ends are never logged."""
    session: ClassVar[bytes] = b""
    """How a message begins that opens or closes a PAM session (a regular expression): it is not needed where the process
    that logged it names its job itself."""
    samples: ClassVar[tuple[Sample, ...]]

    def read(self, at: float, pid: int, text: bytes, fields: Fields) -> Event | None:
        """What one syslog message says, or None when it is not this format's. `fields` is filled by the journal only."""
        return None

    def job(self, at: float, pid: int, text: bytes, subjects: "Subjects") -> Event | None:
        """The event of a message of `jobs`."""
        found = _JOB.match(text) if self.jobs else None
        op = self.jobs.get(found[2]) if found else None
        if found is None or op is None or (found[3] is not None) != self.numbered:
            return None
        user, _, child, rest = found.groups()
        key = (pid, int(child)) if child else None
        detail = ENDLESS if self.endless else None
        return Event(at, op, key, subjects.of(user, rest), pid, int(child or 0), detail)

    def claims(self, head: bytes) -> bool:
        """Whether a file that begins so is written in this format throughout."""
        return False

    def read_line(self, line: bytes, local: "LocalTime") -> Event | None:
        """What one line of a claimed file says; `local` turns the daemon's wall time into seconds since 1970."""
        return None


class LocalTime:
    """Turns wall time into seconds since 1970; see stamps.py. Declared here for the formats."""

    def of(self, year: int, month: int, day: int, hour: int, minute: int, second: float) -> float:
        """Seconds since 1970 of a wall time; raises ValueError for a date that does not exist."""
        raise ValueError("no zone")


class Subjects:
    """Remembers the subject of each text, so that a million equal lines cost one parse. Bounded."""

    def __init__(self) -> None:
        self.known: dict[tuple[bytes, bytes], Subject] = {}
        """Those of (user, rest) that are remembered now; for loops that cannot afford a call for each line."""
        self._size = 0

    def of(self, user: bytes, rest: bytes) -> Subject:
        """The subject of `(user) CMD (rest`; a rest without its closing bracket was cut by syslog."""
        known = self.known.get((user, rest))
        if known is None:
            whole = rest.endswith(b")") and len(rest) <= _LONGEST_COMMAND
            rest = rest[:_LONGEST_COMMAND]
            known = Subject(to_text(user), to_text(rest[:-1] if whole else rest), not whole)
            self._size += len(rest) + 200
            if self._size > _MOST_REMEMBERED:
                self.known.clear()
                self._size = 0
            self.known[user, rest] = known
        return known
