"""What must be so before a new line may run: its files are there, and the user of its job can get at them."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.errors import Refused

if TYPE_CHECKING:
    from cron2queue.cutover.switch import Switch
    from cron2queue.plan.manifest import Replacement

SHOWN = 5


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
    on_the_way = {*path.absolute().parents, *path.resolve().parents}
    facts = path.stat()
    folders = all(_may(folder.stat(), 1, account.pw_uid, groups) for folder in on_the_way)
    return folders and _may(facts, 5 if _program(facts) else 4, account.pw_uid, groups)


def _obstacles(replacement: Replacement) -> Iterator[str]:
    for need in replacement.needs:
        path = Path(need)
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


def ready(switch: Switch) -> None:
    """Refuse while something is missing without which the new lines would fail from the first minute on."""
    found = list(dict.fromkeys(text for each in switch.touched for text in _obstacles(each)))
    if not found:
        return
    shown = ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
    remedy = (
        "lock files come from units/tmpfiles.d (systemd-tmpfiles --create); a plan with a password in it is given to the users"
        " of its jobs by a group, see units/sysusers.d; the rest comes with installing cron2queue where they can run it"
    )
    raise Refused(f"the new lines would not work yet: {shown}", place=switch.live.name, remedy=remedy)
