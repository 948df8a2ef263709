"""A folder held by its descriptor, in which no name can lead anywhere else: no links, no `..`, no absolute paths.

Everything that is written into the plan's folder goes through here: a new file under a random name, opened with
O_EXCL and O_NOFOLLOW, given its mode explicitly, then renamed over the old one within the same directory.
"""

from __future__ import annotations

import errno
import os
import pwd
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class UnsafePath(UsageError):
    """A name leads out of the folder, through a link, or into a place that others may write to."""


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte, however short the single writes are."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise UnsafePath(f"{path[:200]!r} is not a path inside the folder", remedy="name a file below it, without . and ..")
    return parts


def _trusted(descriptor: int, shown: str) -> None:
    """Refuse a folder in which somebody else could swap files under our hands."""
    status = os.fstat(descriptor)
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if status.st_uid not in (0, os.geteuid()):
        raise NotYours(f"{shown} belongs to another user", remedy="choose a folder of your own")
    if status.st_mode & stat.S_IWOTH or (shared and status.st_gid not in (os.getegid(), 0)):
        everybodys = status.st_mode & stat.S_ISVTX  # like /tmp, which is to stay so
        remedy = "name a folder of your own below it" if everybodys else f"run: chmod go-w {shown}"
        raise UnsafePath(f"{shown} can be written to by others", remedy=remedy)


class NotYours(UnsafePath):
    """The folder belongs to another user."""


class Folder:
    """An open folder; use as a context manager."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path, *, create: bool = False) -> Folder:
        """The folder itself may not be a link. `create` makes it with mode 0755, parents too."""
        if create:
            _make_with_parents(path)
        try:
            descriptor = os.open(path, _FOLDER)
        except PermissionError:
            raise
        except OSError as trouble:
            remedy = "name the folder that was given to convert --into; it may not be a link"
            raise UnsafePath(f"{path} is not a folder that can be used: {trouble.strerror}", remedy=remedy) from None
        folder = cls(path, descriptor)
        try:
            _trusted(descriptor, str(path))
        except UnsafePath:
            folder.close()
            raise
        return folder

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._descriptor)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, kind: object, trouble: object, traceback: object) -> None:
        self.close()
        if isinstance(trouble, OSError) and isinstance(trouble.filename, str):
            trouble.filename = str(self.path / trouble.filename)  # a name inside of the folder means nothing to a reader

    @contextmanager
    def _parent(self, path: str, *, create: bool) -> Iterator[tuple[int, str]]:
        *folders, name = _parts(path)
        descriptor = os.dup(self._descriptor)
        try:
            for folder in folders:
                if create:
                    _make(folder, descriptor)
                below = os.open(folder, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = below
            yield descriptor, name
        except OSError as trouble:
            if trouble.errno in (errno.ELOOP, errno.ENOTDIR):
                remedy = "put a folder in its place"
                raise UnsafePath(f"{self.path}/{path} leads through a link or a file", remedy=remedy) from None
            trouble.filename = path  # a full disk names nothing, and nobody knows the name of a new file beside the old one
            raise
        finally:
            os.close(descriptor)

    def read(self, path: str) -> bytes | None:
        """The content of a regular file, or None when there is none."""
        try:
            with self._parent(path, create=False) as (descriptor, name):
                handle = os.open(name, _READ, dir_fd=descriptor)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnsafePath(f"{self.path}/{path} is not a regular file", remedy="take it away: convert writes it anew")
            return file.read()

    def write(self, path: str, data: bytes, mode: int, *, durable: bool = False) -> None:
        """Replace the file as a whole; `durable` waits until content and name are on disk."""
        with self._parent(path, create=True) as (descriptor, name):
            replace(descriptor, name, data, mode, durable=durable)

    def touch(self, path: str, mode: int, *, user: str | None = None) -> None:
        """Make an empty file, unless something is there; run by root, it belongs to `user` where that user is known."""
        try:
            with self._parent(path, create=True) as (descriptor, name):
                handle = os.open(name, _CREATE, mode, dir_fd=descriptor)
        except FileExistsError:
            return
        try:
            os.fchmod(handle, mode)
            if user is not None and os.geteuid() == 0:
                with suppress(KeyError):
                    account = pwd.getpwnam(user)
                    os.fchown(handle, account.pw_uid, account.pw_gid)
        finally:
            os.close(handle)

    def make(self, path: str, mode: int) -> None:
        """Make a subfolder with this mode, if it is not there."""
        try:
            with self._parent(f"{path}/x", create=True) as (descriptor, _):
                os.fchmod(descriptor, mode)
        except OSError as trouble:
            trouble.filename = path
            raise


def _make(name: str, descriptor: int, *, close: bool = False) -> None:
    try:
        os.mkdir(name, 0o755, dir_fd=descriptor)
        os.chmod(name, 0o755, dir_fd=descriptor)
    except FileExistsError:
        return
    finally:
        if close:
            os.close(descriptor)


def _make_with_parents(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _make(path.name or ".", parent, close=True)
        except OSError as trouble:
            trouble.filename = str(path)
            raise
    except FileNotFoundError:  # below /proc, say
        raise UsageError(f"{path} cannot be made", remedy="name a folder where folders can be made") from None
    except FileExistsError as trouble:
        said = f"{trouble.filename} is in the way: it is no folder"
        raise UsageError(said, remedy="name another place, or take it away") from None


def prepare(
    descriptor: int, name: str, data: bytes, mode: int, *, owner: tuple[int, int] | None = None, durable: bool = False
) -> str:
    """A whole new file beside `name`, ready to take its place; its own name."""
    temporary = f".{name[:60]}.{secrets.token_hex(8)}"
    handle = os.open(temporary, _CREATE, 0o600, dir_fd=descriptor)
    try:
        try:
            write_all(handle, data)
            if owner is not None:
                os.fchown(handle, *owner)
            os.fchmod(handle, mode)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
    except BaseException:
        os.unlink(temporary, dir_fd=descriptor)
        raise
    return temporary


def replace(descriptor: int, name: str, data: bytes, mode: int, *, durable: bool = False) -> None:
    """Put a whole new file in the place of `name`: at every moment there is the old one or the new one, complete."""
    temporary = prepare(descriptor, name, data, mode, durable=durable)
    try:
        os.rename(temporary, name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
    except BaseException:
        os.unlink(temporary, dir_fd=descriptor)
        raise
    if durable:
        os.fsync(descriptor)
