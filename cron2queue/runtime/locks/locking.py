"""Locks by name: one run at a time on this host (flock) or in a whole database (its own named locks).

A lock is got, held by another, or in trouble, and the three are never mixed: whoever cannot lock does not run. The name
alone decides which lock it is, so that a crontab line, a worker and a person's shell meet at the same one.
"""

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cron2queue.errors import Cron2QueueError, TryAgain, UsageError

FOLDER = Path("/run/lock/cron2queue")
FOLDER_VARIABLE = "CRON2QUEUE_LOCK_FOLDER"
ALARM_AFTER = 3  # so many skips in a row are worth a warning
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


HELD = "nothing is wrong if the run before may still be going; --policy wait waits for it"
STUCK = "see whether the run that holds it still gets on; one that hangs has to be ended by hand"


class LockHeld(TryAgain):
    """Another run has the lock; nothing was run. Exit status 75."""


class LockTrouble(Cron2QueueError):
    """Whether the lock is free could not be found out; nothing was run."""

    exit_status = 69


def checked_name(name: str) -> str:
    """A lock's name, if it can be a file's name and a name in every database. Raises UsageError."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a lock",
            remedy="use 1 to 100 letters, digits, dots, dashes and underscores, and begin with none of the first two signs",
        )
    return name


def lock_folder(given: Path | None, environment: "os._Environ[str] | dict[str, str]", planned: str | None = None) -> Path:
    """Where lock files are: as given, by CRON2QUEUE_LOCK_FOLDER, by the plan's `lock-folder`, or /run/lock/cron2queue."""
    return given or Path(environment.get(FOLDER_VARIABLE) or planned or FOLDER)


def open_folder(folder: Path) -> int:
    """A descriptor of the folder, made 0700 if it is missing. Raises LockTrouble unless its owner alone can write there.

    A folder that others can write to lets them take a lock's file away, and then two runs hold "the" lock.
    """
    with suppress(FileExistsError):
        try:
            folder.mkdir(mode=0o700)
        except OSError as trouble:
            if trouble.errno != errno.EEXIST:
                raise LockTrouble(
                    f"the lock folder cannot be made: {trouble.strerror}",
                    place=str(folder),
                    remedy="make it at boot (tmpfiles.d: d /run/lock/cron2queue 0750 USER GROUP -), or name one with --folder",
                ) from None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as trouble:
        remedy = "name a folder that this user may enter and write to with --folder"
        raise LockTrouble(f"the lock folder cannot be opened: {trouble.strerror}", place=str(folder), remedy=remedy) from None
    try:
        _check_folder(os.fstat(descriptor), folder)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_folder(found: os.stat_result, folder: Path) -> None:
    if found.st_uid not in (os.geteuid(), 0) and os.geteuid() != 0:
        raise LockTrouble("the lock folder belongs to another user", place=str(folder), remedy="name your own with --folder")
    if found.st_mode & 0o022:
        raise LockTrouble(
            f"the lock folder can be written to by others (mode {stat.S_IMODE(found.st_mode):04o})",
            place=str(folder),
            remedy=f"chmod go-w {folder}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldFile:
    """A file lock that this process holds; `descriptor` may be handed to a program, which then holds it as well."""

    name: str
    descriptor: int

    def release(self) -> None:
        """Let go; the file stays, since deleting it under another's wait would make two locks of one."""
        os.close(self.descriptor)


def lock_file(folder: int, name: str, *, wait: bool) -> HeldFile:
    """Take the lock NAME.lock in the folder. LockHeld: another has it and `wait` is false; LockTrouble: nobody knows."""
    file = f"{checked_name(name)}.lock"
    while True:
        descriptor = _open_lock(folder, file)
        try:
            _flock(descriptor, name, wait=wait)
            if _is_still(folder, file, descriptor):
                _sign(descriptor)
                return HeldFile(name=name, descriptor=descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # somebody has removed or replaced the file meanwhile: the lock is the new one


def _open_lock(folder: int, file: str) -> int:
    # O_NONBLOCK: a FIFO in the place of the file must not hang this; O_NOFOLLOW: a link must not lead elsewhere.
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(file, flags, 0o600, dir_fd=folder)
    except OSError as trouble:
        said = "is a symbolic link" if trouble.errno == errno.ELOOP else f"cannot be opened: {trouble.strerror}"
        raise LockTrouble(f"the lock file {said}", place=file, remedy="look at who made it, and remove it") from None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise LockTrouble("the lock file is no plain file", place=file, remedy="look at who made it, and remove it")
    if found.st_uid != os.geteuid() and os.geteuid() != 0:
        os.close(descriptor)
        raise LockTrouble("the lock file belongs to another user", place=file, remedy="run as that user, or use another name")
    if found.st_uid == os.geteuid() and found.st_mode & 0o077:
        os.fchmod(descriptor, 0o600)  # whoever can read it can lock it, and stop the job for ever
    return descriptor


def _flock(descriptor: int, name: str, *, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise LockHeld(f"the lock {name} is held by another run{_holder(descriptor)}; nothing was run", remedy=HELD) from None
    except OSError as trouble:
        remedy = "see that its folder is on a local disk"
        raise LockTrouble(f"the lock {name} cannot be taken: {trouble.strerror}", remedy=remedy) from None


def _is_still(folder: int, file: str, descriptor: int) -> bool:
    try:
        there = os.stat(file, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _sign(descriptor: int) -> None:
    """Write down who holds it, for people; no decision is taken by it."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()} {int(time.time())}\n".encode(), 0)


def _holder(descriptor: int) -> str:
    with suppress(OSError, ValueError):
        pid, since = os.pread(descriptor, 64, 0).split()
        return f" (process {int(pid)}, since {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(int(since)))})"
    return ""


# ---- how often a lock was found held, for metrics and alarms


@dataclass(frozen=True, slots=True, kw_only=True)
class Skips:
    """How often a run did not happen because the lock was held: in all, in a row, and when last (epoch seconds)."""

    total: int = 0
    in_a_row: int = 0
    last: int = 0


def note_skip(folder: int, name: str) -> Skips:
    """Count one more; the counts as they are now."""
    with _counts(folder, name) as descriptor:
        before = _read_counts(descriptor)
        now = Skips(total=before.total + 1, in_a_row=before.in_a_row + 1, last=int(time.time()))
        _write_counts(descriptor, now)
    return now


def note_run(folder: int, name: str) -> None:
    """It was free: the row of skips has ended."""
    with _counts(folder, name) as descriptor:
        before = _read_counts(descriptor)
        if before.in_a_row:
            _write_counts(descriptor, Skips(total=before.total, in_a_row=0, last=before.last))


@contextmanager
def _counts(folder: int, name: str) -> Iterator[int]:
    descriptor = _open_lock(folder, f"{checked_name(name)}.skips")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _read_counts(descriptor: int) -> Skips:
    try:
        said = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
        return Skips(**{key: int(said[key]) for key in ("total", "in_a_row", "last") if key in said})
    except (ValueError, TypeError):
        return Skips()


def _write_counts(descriptor: int, skips: Skips) -> None:
    text = json.dumps({"total": skips.total, "in_a_row": skips.in_a_row, "last": skips.last}).encode()
    os.pwrite(descriptor, text.ljust(128) + b"\n", 0)


def skips_in(folder: Path) -> dict[str, Skips]:
    """The counts of all locks in a folder, by name; empty when there is no such folder."""
    found: dict[str, Skips] = {}
    for path in sorted(folder.glob("*.skips")) if os.path.isdir(folder) else []:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                found[path.stem] = _read_counts(descriptor)
            finally:
                os.close(descriptor)
    return found


# ---- locks of a whole database


def database_lock_name(prefix: str, name: str) -> str:
    """The name of the lock in the server, at most 64 characters (MySQL's limit), the same for equal names only."""
    whole = f"{prefix}lock/{checked_name(name)}"
    return whole if len(whole) <= 64 else whole[:31] + "/" + hashlib.sha256(whole.encode()).hexdigest()[:32]


def advisory_key(name: str) -> int:
    """The name as the signed 64-bit key of PostgreSQL's advisory locks."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
