"""Folders that are a host's tree, or its /etc: of their files the places tell which are crontabs, and --root goes by those."""

import os
import shlex
from pathlib import Path

from cron2queue.cli.reading.opening import Unreadable

_CRON = ("crontab", "cron.d", "cron.daily")
_OTHERS = ("passwd", "fstab", "init.d")


def _holds(folder: Path, names: tuple[str, ...]) -> bool:
    return any(os.path.lexists(folder / name) for name in names)


def whole_host(folder: Path) -> Unreadable | None:
    """What to do instead of taking each file of the folder for a crontab; None for a folder that is no such tree."""
    absolute = Path(os.path.normpath(folder.absolute()))
    if _holds(folder / "etc", _CRON):
        return Unreadable(str(folder), "it is the tree of a host", _remedy(absolute))
    if not (_holds(folder, _CRON) and _holds(folder, _OTHERS)):
        return None
    remedy = "let its name be etc, and give the folder that it lies in to --root: the crontabs are read by their places"
    if absolute.name == "etc":
        remedy = _remedy(absolute.parent)
    return Unreadable(str(folder), "it is the /etc of a host, where few files are crontabs", remedy)


def _remedy(root: Path) -> str:
    if root == Path("/"):
        return "name no source: then the crontabs of this machine are read, by their places"
    return f"read the crontabs in it by their places: --root {shlex.quote(str(root))}"
