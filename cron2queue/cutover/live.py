"""The live crontab: read whole, and replaced whole by the way that its cron wants.

A system file is written anew beside the old one, with its owner and mode, and renamed over it; a user's crontab goes
through crontab(1), which checks its syntax and tells the daemon. Neither is ever written into.
"""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.crontab.spool import without_heading
from cron2queue.cutover.exchange import put_in_place
from cron2queue.errors import Refused, remedy_of
from cron2queue.plan.folder import prepare
from cron2queue.text import to_text

if TYPE_CHECKING:
    from cron2queue.plan.manifest import Source

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SECONDS = 30


def changed_just_now(name: str) -> Refused:
    """Somebody else was quicker."""
    return Refused("the crontab was changed just now", place=name, remedy="look at it and start again")


class Live(ABC):
    """One live crontab."""

    name: str

    @abstractmethod
    def read(self) -> bytes:
        """The whole text. Raises Refused when it cannot be read."""

    @abstractmethod
    def write(self, data: bytes, *, expected: bytes) -> None:
        """Replace the whole text, which should be `expected`. Raises Refused when that is not allowed, not accepted, or when
        it is another one; it is kept then.
        """

    def check(self, data: bytes) -> str | None:
        """What the system's own checker says against a text, or None."""
        return None


class SystemFile(Live):
    """/etc/crontab, a file in /etc/cron.d, or any other file that is a crontab."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def _open(self) -> int:
        try:
            descriptor = os.open(self.path, _READ)
        except OSError as trouble:
            denied = isinstance(trouble, PermissionError)
            remedy = "run apply as a user who may read and replace it" if denied else "see that it stands where the plan says"
            raise Refused(f"the crontab cannot be opened: {trouble.strerror}", remedy=remedy, place=self.name) from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Refused("the crontab is not a regular file", remedy="name the file itself to convert", place=self.name)
        return descriptor

    def read(self) -> bytes:
        """The file's bytes; a link in its place is refused, since cron may treat its target differently."""
        with os.fdopen(self._open(), "rb") as file:
            return file.read()

    def write(self, data: bytes, *, expected: bytes) -> None:
        """Write beside it, fsync, exchange the two, look at what came out, fsync the folder."""
        descriptor = self._open()
        try:
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if status.st_nlink > 1:
            remedy = "remove the other links: cron itself reads no such file"
            raise Refused(
                "the crontab has several hard links; a new file would leave the others behind", remedy=remedy, place=self.name
            )
        owner = (status.st_uid, status.st_gid)
        try:
            folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                new = prepare(folder, self.path.name, data, stat.S_IMODE(status.st_mode), owner=owner, durable=True)
                taken = put_in_place(folder, new, self.path.name, expected)
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as trouble:
            remedy = remedy_of(trouble, f"run apply as the owner of {self.path} or as root")
            raise Refused(f"the crontab cannot be replaced: {trouble.strerror}", remedy=remedy, place=self.name) from None
        if not taken:
            raise changed_just_now(self.name)


class UserCrontab(Live):
    """The crontab of a user, in the spool that only crontab(1) may write."""

    def __init__(self, user: str, program: str = "crontab") -> None:
        self.user = user
        self.name = f"crontab of {user}"
        own = pwd.getpwuid(os.geteuid()).pw_name == user
        # Another user's crontab is root's affair; crontab(1) says so itself.
        self._command = [program] if own else [program, "-u", user]

    def _run(self, *words: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
        try:
            # Its input is there as a whole before it starts: at the end of a pipe whose writer was killed, crontab(1)
            # would take the half of it, or nothing, for the new text.
            with tempfile.TemporaryFile() as whole:
                whole.write(data)
                whole.seek(0)
                return subprocess.run(
                    [*self._command, *words], stdin=whole, capture_output=True, check=False, timeout=_SECONDS, env=environment
                )
        except (OSError, subprocess.TimeoutExpired) as trouble:
            raise Refused(
                f"crontab(1) cannot be used: {trouble}", remedy="see that cron is installed here", place=self.name
            ) from None

    def read(self) -> bytes:
        """What `crontab -l` shows; no crontab at all is an empty one."""
        ran = self._run("-l")
        if ran.returncode == 0:
            return without_heading(ran.stdout)
        if b"no crontab for" in ran.stderr.lower():
            return b""
        remedy = "run apply as that user, or as root"
        raise Refused(f"crontab -l failed: {to_text(ran.stderr).strip()}", remedy=remedy, place=self.name)

    def write(self, data: bytes, *, expected: bytes) -> None:
        """Through `crontab -`, which puts the whole new text in place or keeps the old one. It compares nothing: an edit in
        the moment between the last look and its own rename is lost, as between any two crontab(1) at once.
        """
        if self.read() != expected:
            raise changed_just_now(self.name)
        ran = self._run("-", data=data)
        if ran.returncode != 0:
            remedy = "the old one stands; repair what crontab(1) says, convert again, then apply"
            raise Refused(
                f"crontab(1) did not take the new text: {to_text(ran.stderr).strip()}", remedy=remedy, place=self.name
            )


def live_crontab(source: Source, folder: Path) -> Live:
    """The live crontab that a source of the plan came from; its path may start at the plan's folder.

    Raises Refused when the text came through a pipe.
    """
    if source.user is not None:
        return UserCrontab(source.user)
    if source.target is None:
        raise Refused(
            f"{source.path} came through a pipe, so that there is no crontab to change here",
            remedy="carry the folder to the host, and convert its own crontab there",
        )
    return SystemFile(Path(os.path.normpath(folder / source.target)))
