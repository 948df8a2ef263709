"""/etc/cron.{hourly,daily,weekly,monthly}: the scripts that run-parts starts, each as an entry of its folder."""

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from cron2queue.crontab.dialect import Dialect
from cron2queue.crontab.lines import CrontabFile, Effect, Entry, Kind, Line, Malformed
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import Schedule
from cron2queue.expressions import regex
from cron2queue.text import to_text

FOLDERS = ("etc/cron.hourly", "etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly")
# When Debian's /etc/crontab starts them, for a host whose own lines do not tell.
_USUAL = {
    "cron.hourly": "17 * * * *",
    "cron.daily": "25 6 * * *",
    "cron.weekly": "47 6 * * 7",
    "cron.monthly": "52 6 1 * *",
}
# run-parts(8) of Debian, with neither --lsbsysinit nor --regex, and of BusyBox.
_NAME = regex(r"[A-Za-z0-9_-]+\Z")
# What packages and editors leave behind, and nobody means to run; the run-parts beside cronie skips these names only.
_LEFT = regex(r".*(?:~|,|,v|\.(?:dpkg-\w+|rpmsave|rpmorig|rpmnew|swp|cfsaved))\Z")


def run_parts_folder(path: Path, own_path: Path, dialect: Dialect, readers: Iterable[CrontabFile]) -> CrontabFile | None:
    """The folder's scripts in the order of their names, as the host names them; None when there is no such folder."""
    try:
        names = sorted(script.name for script in path.iterdir())
    except OSError:
        return None
    schedule, text, why = _schedule(path.name, dialect, readers)
    lines: list[Line] = []
    strict = dialect.name != "cronie"
    for name in names:
        if name.startswith(".") or _LEFT.match(name):
            continue  # .placeholder and its like are meant to be skipped
        reason = _skipped(path / name, strict=strict)
        number = len(lines) + 1
        lines.append(_entry(own_path / name, number, schedule, text) if reason is None else _malformed(name, number, reason))
    return CrontabFile(path=str(path), dialect=dialect.name, kind=Kind.SYSTEM, lines=tuple(lines), notes=(why,), editable=False)


def _skipped(script: Path, *, strict: bool) -> str | None:
    if strict and not _NAME.match(script.name):
        return "run-parts skips it: its name has other characters than letters, digits, _ and -"
    try:
        mode = script.stat().st_mode
    except OSError as error:
        return f"run-parts skips it: {os.strerror(error.errno or 0)}"
    if not stat.S_ISREG(mode):
        return "run-parts skips it: it is not a regular file"
    return None if mode & 0o111 else "run-parts skips it: it is not executable"


def _malformed(name: str, number: int, reason: str) -> Malformed:
    return Malformed(
        number=number, raw=b"", column=1, message=f"{to_text(os.fsencode(name))}: {reason}", effect=Effect.LINE,
        remedy="rename it or make it executable if it should run, else remove it",
    )  # fmt: skip


def _entry(script: Path, number: int, schedule: Schedule, text: str) -> Entry:
    command = to_text(os.fsencode(script))
    environment = {"SHELL": "/bin/sh", "HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin"}
    return Entry(
        number=number, raw=b"", schedule=schedule, schedule_text=text, user="root", command=command, stdin=None,
        environment=environment | {"LOGNAME": "root"}, command_text=command, command_column=1, fields=tuple(text.split()),
    )  # fmt: skip


def _schedule(folder: str, dialect: Dialect, readers: Iterable[CrontabFile]) -> tuple[Schedule, str, str]:
    """When the folder is run: by the crontab line or anacron job that names it, else at the usual time."""
    named = re.compile(rf"/{re.escape(folder)}(?![\w.-])")
    for file in readers:
        for entry in file.entries if file.loaded else ():
            if named.search(entry.command) and ("run-parts" in entry.command or "run-crons" in entry.command):
                return entry.schedule, entry.schedule_text, f"run by {file.path}, line {entry.number}"
    text = _USUAL[folder]
    line = parse(f"{text} x\n".encode(), path=folder, dialect=dialect, kind=Kind.USER)
    return line.entries[0].schedule, text, f"no line read here runs {folder}: Debian's usual {text} is assumed"
