"""One tree of errors: each says what went wrong, where, and what to do, and knows its exit status.

Cron2QueueError            2
├── UsageError             2   the call or the configuration is wrong
├── InputError             3   an input could not be read
├── Refused                4   apply or rollback would not be safe
├── DatabaseUnavailable   69   the database does not answer
└── TryAgain              75   lock held, queue full
"""

from __future__ import annotations

import errno

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


# What may happen to any write, and what helps.
DISK_TROUBLE = {
    errno.ENOSPC: "free some space, then try again",
    errno.EDQUOT: "free some space or raise the quota, then try again",
    errno.EROFS: "that file system is mounted read-only: mount it for writing, or name another place",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f), then try again",
    errno.EIO: "look at the disk: the kernel's log tells more",
}


def remedy_of(trouble: OSError, otherwise: str) -> str:
    """What helps where something cannot be written: what the disk needs, or else `otherwise`."""
    return DISK_TROUBLE.get(trouble.errno or 0, otherwise)


class Cron2QueueError(Exception):
    """Base of all errors that a person is told about in one paragraph.

    `place` is `file`, `file:line` or `file:line:column`; `remedy` is one imperative sentence.
    """

    exit_status: ClassVar[int] = 2

    def __init__(self, message: str, *, remedy: str | None = None, place: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.place = place

    def __str__(self) -> str:
        said = f"{self.place}: {self.message}" if self.place else self.message
        return f"{said}\n  remedy: {self.remedy}" if self.remedy else said


class UsageError(Cron2QueueError):
    """The command line, an option or the configuration cannot be used as it stands."""


class InputError(Cron2QueueError):
    """An input could not be read or decoded."""

    exit_status = 3


class Refused(Cron2QueueError):
    """A change of the live system was refused because it would not be safe."""

    exit_status = 4


class DatabaseUnavailable(Cron2QueueError):
    """The database does not answer; nothing was changed."""

    exit_status = 69


class TryAgain(Cron2QueueError):
    """Not possible just now (a lock is held, a queue is full); the same call may succeed later."""

    exit_status = 75
