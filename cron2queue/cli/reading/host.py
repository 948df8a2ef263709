"""The host whose crontabs are read: this machine, or a copied tree of another one."""

import os
import platform
import pwd
import stat
import subprocess
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path

from cron2queue.cli.reading.opening import NotRead, inside, read_bytes
from cron2queue.crontab.dialect import FileFacts
from cron2queue.crontab.kinds import Guess

_GENERATORS = ("usr/lib/systemd/system-generators", "lib/systemd/system-generators", "etc/systemd/system-generators")
_LISTING_SECONDS = 10


class HostUsers(Collection[str]):
    """The users of this machine, asked one by one: a directory service need not list them."""

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or "\0" in name:
            return False
        try:
            pwd.getpwnam(name)
        except (KeyError, UnicodeEncodeError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return (entry.pw_name for entry in pwd.getpwall())

    def __len__(self) -> int:
        return len(pwd.getpwall())


class Host:
    """Paths, users and the cron daemon of this machine (`root` None) or of a tree under `root`."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self.top = Path("/") if root is None else root

    @property
    def live(self) -> bool:
        """Whether it is this machine: only then users can be looked up."""
        return self.root is None

    def path(self, relative: str) -> Path:
        """A path of the host, its links followed inside the tree."""
        return self.top / relative if self.live else inside(self.top, relative)

    def own_path(self, path: Path) -> Path:
        """How the host itself names this path: from its own root on."""
        for top in (self.top, Path(os.path.realpath(self.top))):
            if path.is_relative_to(top):
                return Path("/", path.relative_to(top))
        return path

    @cached_property
    def name(self) -> str | None:
        """The host's name; None for this machine."""
        if self.live:
            return None
        try:
            return read_bytes(self.path("etc/hostname")).decode("utf-8", "replace").strip() or None
        except NotRead:
            return None

    @cached_property
    def _passwd(self) -> dict[str, tuple[int, str]]:
        try:
            text = read_bytes(self.path("etc/passwd")).decode("utf-8", "surrogateescape")
        except NotRead:
            return {}
        fields = (line.split(":") for line in text.splitlines())
        return {each[0]: (int(each[2]), each[5]) for each in fields if len(each) >= 6 and each[2].isdigit()}

    @cached_property
    def homes(self) -> dict[str, str]:
        """Home folders by user."""
        return {name: home for name, (_, home) in self._passwd.items()}

    @property
    def users(self) -> Collection[str] | None:
        """The users, of this machine only."""
        return HostUsers() if self.live else None

    def user_id(self, name: str) -> int | None:
        """The user's number, where known."""
        if name in self._passwd:
            return self._passwd[name][0]
        if self.live and name in HostUsers():
            return pwd.getpwnam(name).pw_uid
        return None

    @cached_property
    def owners_tell(self) -> bool:
        """Whether owners and modes are the host's own: in a tree that was copied without them they are the copier's."""
        try:
            return (self.top / "etc").stat().st_uid == 0
        except OSError:
            return False

    def daemon(self) -> Guess | None:
        """The cron daemon by what is installed; None when there is none."""
        if self.live and platform.system() in ("FreeBSD", "OpenBSD"):
            return Guess(platform.system().lower(), f"this is {platform.system()}")
        where = "here" if self.live else f"under {self.root}"
        for folder in _GENERATORS:
            if self._has(f"{folder}/systemd-crontab-generator"):
                return Guess("systemd-cron", f"systemd-crontab-generator is installed {where}")
        if self._has("usr/sbin/crond"):
            busybox = self._link_target("usr/sbin/crond").endswith("busybox")
            return Guess(
                "busybox" if busybox else "cronie", f"usr/sbin/crond is {'BusyBox' if busybox else 'installed'} {where}"
            )
        if self._has("usr/sbin/cron"):
            return Guess("debian", f"usr/sbin/cron is installed {where}")
        return None

    def _has(self, relative: str) -> bool:
        try:
            return os.path.lexists(self.top / relative)
        except (OSError, ValueError):
            return False

    def _link_target(self, relative: str) -> str:
        try:
            return str((self.top / relative).readlink())
        except OSError:
            return ""


def facts_of(path: Path, target: Path) -> FileFacts | None:
    """What a daemon checks before it reads the file, whose links lead to `target`; None when that cannot be known."""
    try:
        link = path.lstat()
        file = target.stat()
    except OSError:
        return None
    return FileFacts(
        mode=stat.S_IMODE(file.st_mode),
        uid=file.st_uid,
        links=file.st_nlink,
        symlink=stat.S_ISLNK(link.st_mode),
        link_uid=link.st_uid,
    )


def own_crontab() -> bytes | None:
    """What `crontab -l` prints for the caller; None when there is no crontab, no such command, or no answer in time."""
    try:
        listed = subprocess.run(
            ["crontab", "-l"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_LISTING_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return listed.stdout if listed.returncode == 0 else None


def caller() -> str:
    """The name of the user who runs this."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
