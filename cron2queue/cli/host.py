"""Facts of the host whose crontabs are read in place (or of its tree under --root): read only, and never needed."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cron2queue.analyser.host import FileFacts, HostFacts, OtherStart
    from cron2queue.crontab.lines import CrontabFile

_PATH_IN_COMMAND = re.compile(r"(?<![\w./$~{}*-])/[\w./+@-]{2,250}")
_UNIT_FOLDERS = (
    "etc/systemd/system",
    "run/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
)
_DAILY = ("etc/cron.hourly", "etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly")
_MAILERS = ("usr/sbin/sendmail", "usr/lib/sendmail", "usr/bin/mail")
_MOST = 64 * 1024  # bytes of a script or a unit that are looked at
_IN_PLACE = ("/etc/", "/var/spool/cron", "/usr/lib/cron", "/var/cron")


def in_place(files: Sequence[CrontabFile]) -> bool:
    """True when all files lie where the daemon of this machine reads them, so that its facts are theirs."""
    return bool(files) and all(file.path.startswith(_IN_PLACE) for file in files)


def host_facts(files: Sequence[CrontabFile], root: Path | None) -> HostFacts:
    """Users, modes and owners of the crontabs, which paths of the commands exist, other things that start commands."""
    from cron2queue.analyser.host import HostFacts

    top = root or Path("/")
    return HostFacts(
        users=_users(top),
        paths={path: os.path.lexists(top / path.lstrip("/")) for path in _paths(files)},
        files=dict(_file_facts(files, top)),
        starts=tuple(_other_starts(top)),
        mail=any(os.path.lexists(top / mailer) for mailer in _MAILERS),
    )


def _users(top: Path) -> frozenset[str] | None:
    """Names from the tree's passwd; on this machine also those that only the name service knows."""
    names: set[str] = set()
    with contextlib.suppress(OSError):
        text = (top / "etc/passwd").read_text(encoding="utf-8", errors="surrogateescape")
        names = {line.split(":", 1)[0] for line in text.splitlines() if ":" in line}
    if top == Path("/"):
        names |= {each.pw_name for each in pwd.getpwall()}
    return frozenset(names) or None


def _paths(files: Iterable[CrontabFile]) -> set[str]:
    return {
        found.group().rstrip(".")
        for file in files
        for entry in file.entries
        for found in _PATH_IN_COMMAND.finditer(entry.command)
    }


def _file_facts(files: Iterable[CrontabFile], top: Path) -> Iterator[tuple[str, FileFacts]]:
    from cron2queue.analyser.host import FileFacts

    for file in files:
        place = Path(file.path)
        if not place.is_relative_to(top):
            place = top / file.path.lstrip("/")
        with contextlib.suppress(OSError, ValueError):
            status = place.stat()
            yield file.path, FileFacts(mode=status.st_mode & 0o7777, owner=_owner(status.st_uid, top), links=status.st_nlink)


def _owner(number: int, top: Path) -> str | None:
    if top != Path("/"):
        return "root" if number == 0 else None
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _other_starts(top: Path) -> Iterator[OtherStart]:
    from cron2queue.analyser.host import OtherStart

    for folder in _DAILY:
        for script in _inside(top / folder):
            if script.is_file() and os.access(script, os.X_OK):
                yield OtherStart(origin=f"/{folder}", name=script.name, command=_read(script))
    seen: set[str] = set()
    for folder in _UNIT_FOLDERS:
        for timer in _inside(top / folder):
            if timer.suffix == ".timer" and timer.name not in seen:
                seen.add(timer.name)
                yield OtherStart(origin="systemd timer", name=timer.name, command=_started_by(timer, top))


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _started_by(timer: Path, top: Path) -> str:
    """The commands of the service that a timer starts: the unit it names, or the one of its own name."""
    named = re.search(r"^Unit=(\S+)", _read(timer), re.M)
    service = named[1] if named else f"{timer.stem}.service"
    for folder in _UNIT_FOLDERS:
        text = _read(top / folder / Path(service).name)
        if text:
            return "; ".join(line.lstrip("-@:+! ") for line in re.findall(r"^ExecStart=(.+)$", text, re.M))
    return ""


def _read(path: Path) -> str:
    """The beginning of a regular file, or nothing; never waits for a pipe or a device."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_MOST).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
