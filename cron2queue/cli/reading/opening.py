"""Bytes of files that may be anything: no FIFO, device or endless file makes the reader wait, and links stay in the tree."""

import errno
import os
import stat
from pathlib import Path
from typing import IO, NamedTuple

LARGEST = 16 * 1024 * 1024
_MOST_LINKS = 40
_DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


class Unreadable(NamedTuple):
    """A source that could not be read: why, and what to do."""

    path: str
    reason: str
    remedy: str


class NotRead(Exception):
    """Inside the reader only: carries what is told about the source."""

    def __init__(self, path: str | Path, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.told = Unreadable(str(path), reason, remedy)


_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a FIFO"),
    (stat.S_ISCHR, "it is a character device"),
    (stat.S_ISBLK, "it is a block device"),
    (stat.S_ISSOCK, "it is a socket"),
)


def _refusal(path: Path, error: OSError) -> NotRead:
    remedies = {
        errno.ENOENT: ("it does not exist", "check the name"),
        errno.EACCES: ("permission denied", "run as root, or pipe it in: sudo cat FILE | cron2queue audit -"),
        errno.EPERM: ("permission denied", "run as root, or pipe it in: sudo cat FILE | cron2queue audit -"),
        errno.ELOOP: ("its symbolic links go round in a circle", "correct the links"),
        errno.ENOTDIR: ("a part of its path is no folder", "check the name"),
        errno.ENAMETOOLONG: ("its name is too long", "check the name"),
    }
    reason, remedy = remedies.get(error.errno or 0, (os.strerror(error.errno or errno.EIO), "check the file"))
    return NotRead(path, reason, remedy)


def _check(path: Path, facts: os.stat_result) -> None:
    for test, what in _KINDS:
        if test(facts.st_mode):
            raise NotRead(path, f"{what}, not a regular file", "name a file, or pipe it in with -")
    if facts.st_size > LARGEST:
        raise NotRead(path, f"it has {facts.st_size} bytes, more than {LARGEST}", "no crontab is that large: name another file")


def _bounded(stream: IO[bytes], name: str | Path) -> bytes:
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise NotRead(name, f"it has more than {LARGEST} bytes", "no crontab is that large: name another source")
    return data


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file.

    Raises:
        NotRead: it is something else, too large, or not readable.
    """
    if str(path).startswith(_DESCRIPTORS):
        return _read_descriptor(path)
    try:
        _check(path, path.stat())
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as stream:
            _check(path, os.fstat(stream.fileno()))
            return _bounded(stream, path)
    except (OSError, ValueError) as error:
        raise _refusal(path, error if isinstance(error, OSError) else OSError(errno.ENOENT, "")) from error


def _read_descriptor(path: Path) -> bytes:
    """What the shell opened for us, as in <(ssh web1 cat /etc/crontab): it has a writer, or ends."""
    try:
        with path.open("rb") as stream:
            return _bounded(stream, path)
    except OSError as error:
        raise _refusal(path, error) from error


def read_stream(stream: IO[bytes]) -> bytes:
    """All of standard input, within the limit."""
    return _bounded(stream, "-")


def inside(root: Path, path: str) -> Path:
    """The file that `path` (absolute, as the host of the tree sees it) is under `root`, its links followed inside the tree.

    Raises:
        NotRead: the links go round in a circle.
    """
    pending = [part for part in path.split("/") if part not in ("", ".")][::-1]
    resolved: list[str] = []
    links = 0
    while pending:
        part = pending.pop()
        if part == "..":
            del resolved[-1:]
            continue
        here = root.joinpath(*resolved, part)
        try:
            target = str(here.readlink())
        except (OSError, ValueError):  # no link, or not to be looked at: told when it is read
            resolved.append(part)
            continue
        links += 1
        if links > _MOST_LINKS:
            raise NotRead(here, "its symbolic links go round in a circle", "correct the links")
        if target.startswith("/"):
            resolved = []
        pending.extend([step for step in target.split("/") if step not in ("", ".")][::-1])
    return root.joinpath(*resolved)
