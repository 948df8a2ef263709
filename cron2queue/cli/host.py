"""Facts of the host whose crontabs are read in place (or of its tree under --root): read only, and never needed."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.cli.reading.host import Host
from cron2queue.cli.reading.opening import NotRead, read_bytes
from cron2queue.expressions import regex

if TYPE_CHECKING:
    from cron2queue.analyser.host import FileFacts, HostFacts, OtherStart
    from cron2queue.crontab.lines import CrontabFile

_PATH_IN_COMMAND = regex(r"(?<![\w./$~{}*-])/[\w./+@-]{2,250}+(?![*?${\[])")
# Debian's cron lines and scripts that leave the work to a timer of their package where systemd runs.
_GIVES_WAY = regex(r"/run/systemd/(?:system|private)\b")
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


def facts_of_host(files: Sequence[CrontabFile], root: Path | None) -> HostFacts | None:
    """Of the tree under `root`, or of this machine where all files are its own; None where no facts are theirs."""
    return host_facts(files, root) if root is not None or in_place(files) else None


def in_place(files: Sequence[CrontabFile]) -> bool:
    """True when all files lie where the daemon of this machine reads them, so that its facts are theirs."""
    return bool(files) and all(file.path.startswith(_IN_PLACE) for file in files)


def host_facts(files: Sequence[CrontabFile], root: Path | None) -> HostFacts:
    """Users, modes and owners of the crontabs, which paths of the commands exist, other things that start commands."""
    from cron2queue.analyser.host import HostFacts

    host = Host(root)
    programs = host.live or _exists(host, "usr")  # a copy of /etc and the crontabs alone does not tell what is installed
    return HostFacts(
        users=frozenset(host.users or host.homes) or None,
        paths={path: _exists(host, path) for path in _paths(files)} if programs else {},
        files=dict(_file_facts(files, host)),
        starts=tuple(_other_starts(files, host)),
        mail=any(_exists(host, mailer) for mailer in _MAILERS) if programs else None,
    )


def _exists(host: Host, path: str) -> bool:
    try:
        return os.path.lexists(host.path(path.lstrip("/")))
    except (OSError, ValueError, NotRead):
        return False


def _paths(files: Iterable[CrontabFile]) -> set[str]:
    return {
        found.group().rstrip(".")
        for file in files
        for entry in file.entries
        for found in _PATH_IN_COMMAND.finditer(entry.command)
    }


def _file_facts(files: Iterable[CrontabFile], host: Host) -> Iterator[tuple[str, FileFacts]]:
    """Of real files only: a folder of scripts is told as a crontab too. A copied tree may have lost its owners."""
    from cron2queue.analyser.host import FileFacts

    for file in files if host.live or host.owners_tell else ():
        with contextlib.suppress(OSError, ValueError):
            place = Path(file.path)
            status = (place if os.path.exists(place) else host.top / file.path.lstrip("/")).stat()
            if stat.S_ISREG(status.st_mode):
                yield (
                    file.path,
                    FileFacts(mode=stat.S_IMODE(status.st_mode), owner=_owner(status.st_uid, host), links=status.st_nlink),
                )


def _owner(number: int, host: Host) -> str | None:
    if number == 0:
        return "root"
    if not host.live:
        return next((name for name in host.homes if host.user_id(name) == number), None)
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _other_starts(files: Sequence[CrontabFile], host: Host) -> Iterator[OtherStart]:
    """Scripts of cron's folders that were not read as sources anyhow, and timers, save those that cron gives way to."""
    from cron2queue.analyser.host import OtherStart

    scripts = dict(_scripts(host))
    read = tuple(file.path for file in files)
    for (folder, name), text in scripts.items():
        if not any(path.endswith(folder) for path in read):
            yield OtherStart(origin=f"/{folder}", name=name, command=text)
    said = [f"{name}\n{text}" for (_, name), text in scripts.items()] + list(_commands(files))
    giving_way = [text for text in said if _GIVES_WAY.search(text)]
    for name, command in _timers(host):
        if not any(word in text for text in giving_way for word in _called(name, command)):
            yield OtherStart(origin="systemd timer", name=name, command=command)


def _commands(files: Sequence[CrontabFile]) -> Iterator[str]:
    return (entry.command for file in files for entry in file.entries)


def _called(timer: str, command: str) -> list[str]:
    """What a cron line would call the same job: the timer's name, or the program that its service runs."""
    words = command.split(None, 1)
    program = words[0].rpartition("/")[2] if words else ""
    return [name for name in (timer.removesuffix(".timer"), program) if len(name) > 3]


def _scripts(host: Host) -> Iterator[tuple[tuple[str, str], str]]:
    for folder in _DAILY:
        for name in _names(host, folder):
            text = _read(host, f"{folder}/{name}")
            if text and os.access(host.path(f"{folder}/{name}"), os.X_OK):
                yield (folder, name), text


def _timers(host: Host) -> Iterator[tuple[str, str]]:
    """Timers and the commands of their services; a unit in an earlier folder hides its namesakes."""
    seen: set[str] = set()
    for folder in _UNIT_FOLDERS:
        for name in _names(host, folder):
            if name.endswith(".timer") and name not in seen:
                seen.add(name)
                yield name, _started_by(name, _read(host, f"{folder}/{name}"), host)


def _names(host: Host, folder: str) -> list[str]:
    try:
        return sorted(each.name for each in host.path(folder).iterdir())
    except (OSError, ValueError, NotRead):
        return []


def _started_by(timer: str, text: str, host: Host) -> str:
    """The commands of the service that a timer starts: the unit it names, or the one of its own name."""
    named = re.search(r"^Unit=(\S{1,200})", text, re.M)
    service = Path(named[1] if named else f"{timer.removesuffix('.timer')}.service").name
    for folder in _UNIT_FOLDERS:
        unit = _read(host, f"{folder}/{service}")
        if unit:
            return "; ".join(line.lstrip("-@:+! ") for line in re.findall(r"^ExecStart=(.+)$", unit, re.M))
    return ""


def _read(host: Host, relative: str) -> str:
    """The beginning of a regular file, or nothing."""
    try:
        return read_bytes(host.path(relative))[:_MOST].decode("utf-8", "surrogateescape")
    except (NotRead, OSError, ValueError):
        return ""
