"""What must be so before a new line may run: its files are there, and the user of its job can get at them."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cron2queue.errors import Refused

if TYPE_CHECKING:
    from cron2queue.cutover.switch import Cutover
    from cron2queue.plan.manifest import Replacement

UNIT_FOLDERS = tuple(
    map(Path, ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"))
)
SHOWN = 5
SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a plan says of the host: its interpreter, and the file of a database that is one."""

    python: str | None
    sqlite: Path | None


def _may(status: os.stat_result, right: int, uid: int, groups: Iterable[int]) -> bool:
    """Whether the classic permission bits give all of `right` (4 read, 2 write, 1 execute or pass)."""
    if status.st_uid == uid:
        return status.st_mode >> 6 & right == right
    if status.st_gid in groups:
        return status.st_mode >> 3 & right == right
    return status.st_mode & right == right


def _program(status: os.stat_result) -> bool:
    return bool(status.st_mode & 0o111)


def reachable(path: Path, user: str) -> bool:
    """Whether the user may pass every folder on the way, links followed, and read the file, and run it if it is a program.

    Raises KeyError for an unknown user.
    """
    account = pwd.getpwnam(user)
    if account.pw_uid == 0:
        return True
    groups = os.getgrouplist(user, account.pw_gid)
    on_the_way = {*path.absolute().parents, *Path(os.path.realpath(path)).parents}
    facts = path.stat()
    folders = all(_may(folder.stat(), 1, account.pw_uid, groups) for folder in on_the_way)
    return folders and _may(facts, 5 if _program(facts) else 4, account.pw_uid, groups)


def _unwritable(file: Path, user: str) -> Iterator[str]:
    """What of a SQLite database the user may not write: the file, what SQLite keeps beside it, and the folder for those."""
    account = pwd.getpwnam(user)
    groups = os.getgrouplist(user, account.pw_gid)
    beside = (file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm"))
    needed = [(file, 6), *((each, 6) for each in beside if os.path.exists(each)), (file.parent, 3)]
    if account.pw_uid == 0:
        return
    if not all(_may(folder.stat(), 1, account.pw_uid, groups) for folder in Path(os.path.realpath(file)).parents):
        yield f"{user} cannot reach {file}"
        return
    yield from (f"{user} cannot write {path}" for path, right in needed if not _may(path.stat(), right, account.pw_uid, groups))


def _of_database(replacement: Replacement, plans: Mapping[str, Told]) -> Iterator[str]:
    """A producer and a worker write to the database as the user of the job."""
    for file in (plans[need].sqlite for need in replacement.needs if need in plans):
        if file is None:
            continue
        try:
            yield from _unwritable(file, replacement.user) if replacement.user else ()
        except (FileNotFoundError, KeyError):
            return  # both are told of elsewhere
        except PermissionError:
            yield f"{file} cannot be looked at"


def is_unit(need: str) -> bool:
    """Whether it is the name of a unit, and not a path."""
    return "/" not in need


def _obstacles(replacement: Replacement) -> Iterator[str]:
    for need in replacement.needs:
        path = Path(need)
        if is_unit(need):
            if not any(os.path.exists(folder / need) for folder in UNIT_FOLDERS):
                yield f"{need} is not installed"
            continue
        try:
            if stat.S_ISLNK(path.lstat().st_mode) and need.endswith(".lock"):
                yield f"{need} is a link"
            elif replacement.user and not reachable(path, replacement.user):
                yield f"{replacement.user} cannot {'run' if _program(path.stat()) else 'read'} {need}"
        except FileNotFoundError:
            yield f"{need} is not there"
        except KeyError:
            yield f"there is no user {replacement.user}"
            return
        except PermissionError:
            yield f"{need} cannot be looked at"


def _as(user: str | None) -> dict[str, Any]:
    """How a child becomes the user, where we may make it so."""
    if user is None or os.geteuid() != 0:
        return {}
    account = pwd.getpwnam(user)
    groups = os.getgrouplist(user, account.pw_gid)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": groups}


@cache
def _loads(python: str, user: str | None) -> bool:
    """Whether the interpreter finds what a producer's line runs; it is asked, as the user of the job."""
    words = [python, "-I", "-c", "import cron2queue.runtime.producer"]
    try:
        ran = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, cwd="/", timeout=SECONDS, check=False, env={}, **_as(user)
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0


def _of_python(replacement: Replacement, plans: Mapping[str, Told]) -> Iterator[str]:
    for need in replacement.needs:
        python = plans[need].python if need in plans else None
        if python in replacement.needs and not _loads(python, replacement.user):
            yield f"{python} does not find cron2queue" + (f" as {replacement.user}" if replacement.user else "")


_FILES = (
    "lock files come from units/tmpfiles.d (systemd-tmpfiles --create); a plan with a password in it is given to the users"
    " of its jobs by a group, see units/sysusers.d; the rest comes with installing cron2queue where they can run it"
)
_UNITS = "copy units/systemd/ to /etc/systemd/system and run systemctl daemon-reload"
_DATABASE = (
    "give the SQLite file a folder of its own that the users of the jobs own: install -d -o {user} /var/lib/cron2queue, name"
    " a file in it as `database` in the plan, and run migrate up as {user}; for jobs of several users take a database server"
)


def ready(cutover: Cutover, plans: Mapping[str, Told]) -> None:
    """Refuse while something is missing without which the new lines would fail from the first minute on.

    `plans` tells what each plan says, by its path.
    """
    missing = list(dict.fromkeys(text for each in cutover.touched for text in _obstacles(each)))
    if not missing:
        missing = list(dict.fromkeys(text for each in cutover.touched for text in _of_python(each, plans)))
    closed = list(dict.fromkeys(text for each in cutover.touched for text in _of_database(each, plans)))
    found = missing + closed
    if not found:
        return
    shown = ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
    user = next((each.user for each in cutover.touched if each.user not in (None, "root")), "USER")
    units = [text for text in missing if text.endswith("is not installed")]
    remedies = [
        *([_UNITS] if units else []),
        *([_FILES] if len(missing) > len(units) else []),
        *([_DATABASE.format(user=user)] if closed else []),
    ]
    raise Refused(f"the new lines would not work yet: {shown}", place=cutover.live.name, remedy="; ".join(remedies))
