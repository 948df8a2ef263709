"""What the end of a program means for its job: the exec contract as one table.

Sources: sysexits(3) for 64-78, timeout(1) for 124, the shell's 126, 127 and 128+signal (POSIX.1, 2.8.2).
An exit status and a signal are never mixed: 137 is a status that a shell made from its child's signal 9, signal 9 is
the program's own end.
"""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Ending(StrEnum):
    """How an attempt ended, in the words of the attempts table."""

    DONE = "done"
    RETRY = "retry"
    FAILED = "failed"
    PERMANENT = "permanent"
    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    SIGNAL = "signal"
    CRASHED = "crashed"
    COULD_NOT_START = "could_not_start"
    LOST_LEASE = "lost_lease"
    RELEASED = "released"


# What a kind's own table may say about a status.
MEANINGS = frozenset({Ending.DONE, Ending.RETRY, Ending.FAILED, Ending.PERMANENT})

_FATAL = (signal.SIGILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGKILL, signal.SIGSEGV)
_STATUSES: Mapping[int, Ending] = {
    0: Ending.DONE,
    64: Ending.PERMANENT,  # EX_USAGE
    65: Ending.PERMANENT,  # EX_DATAERR
    66: Ending.PERMANENT,  # EX_NOINPUT
    75: Ending.RETRY,  # EX_TEMPFAIL
    76: Ending.PERMANENT,  # EX_PROTOCOL
    77: Ending.PERMANENT,  # EX_NOPERM
    78: Ending.PERMANENT,  # EX_CONFIG
    124: Ending.TIMEOUT,  # timeout(1)
    126: Ending.COULD_NOT_START,  # found, but not executable
    127: Ending.COULD_NOT_START,  # not found
    **{128 + number: Ending.SIGNAL for number in _FATAL},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramEnd:
    """Exactly one of the two is set: the status that a program chose, or the signal that ended it."""

    exit_status: int | None = None
    signal: int | None = None

    @classmethod
    def of_wait_status(cls, wait_status: int) -> "ProgramEnd":
        """Read a status word of wait(2)."""
        code = os.waitstatus_to_exitcode(wait_status)
        return cls(signal=-code) if code < 0 else cls(exit_status=code)

    def __str__(self) -> str:
        return (
            f"exit status {self.exit_status}" if self.signal is None else f"signal {self.signal} ({signal_name(self.signal)})"
        )


def signal_name(number: int) -> str:
    """SIGSEGV for 11; numbers without a name as they are."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def meaning(end: ProgramEnd, own_table: Mapping[int, Ending] | None = None) -> Ending:
    """What the end means; a kind's own table comes first, and says nothing of signals."""
    if end.exit_status is None:
        return Ending.SIGNAL
    if own_table and end.exit_status in own_table:
        return own_table[end.exit_status]
    return _STATUSES.get(end.exit_status, Ending.FAILED)
