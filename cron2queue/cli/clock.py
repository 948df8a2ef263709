"""Which zone and which moment a report is for: as asked, or the host's."""

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from cron2queue.errors import UsageError

_ZONEINFO = "zoneinfo/"


def zone_for(name: str | None, *, root: Path | None = None, environment: Mapping[str, str] = os.environ) -> ZoneInfo:
    """The named zone; without a name that of the host (TZ, /etc/timezone, /etc/localtime), or of the tree under `root`.

    Raises:
        UsageError: there is no such zone.
    """
    if name is not None:
        return _asked(name)
    for found in _of_host(root or Path("/"), environment if root is None else {}):
        zone = _zone(found)
        if zone is not None:
            return zone
    return ZoneInfo("UTC")


def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name.strip().removeprefix(":"))
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        return None


def _asked(name: str) -> ZoneInfo:
    zone = _zone(name)
    if zone is None:
        import difflib

        near = difflib.get_close_matches(name, sorted(available_timezones()), n=1)
        remedy = f"did you mean {near[0]}?" if near else "use a name such as Europe/Berlin or UTC"
        raise UsageError(f"there is no time zone {name!r}", remedy=remedy, place="--timezone")
    return zone


def _of_host(root: Path, environment: Mapping[str, str]) -> list[str]:
    names = [environment["TZ"]] if environment.get("TZ") else []
    try:
        names.append((root / "etc/timezone").read_text(encoding="ascii", errors="replace"))
    except OSError:
        names.append("")
    target = os.path.realpath(root / "etc/localtime")
    return [*names, target[target.rindex(_ZONEINFO) + len(_ZONEINFO) :] if _ZONEINFO in target else ""]


def moment(text: str | None, zone: ZoneInfo, option: str = "--at") -> datetime:
    """The moment that the option names, in ISO 8601; a wall time is one of `zone`; without text it is now, to the second.

    Raises:
        UsageError: the text is no moment.
    """
    if text is None:
        return datetime.now(zone).replace(microsecond=0)
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        remedy = "write it as 2026-03-29, 2026-03-29T02:30 or 2026-03-29T02:30:00+01:00"
        raise UsageError(f"{text!r} is no moment", remedy=remedy, place=option) from error
    return at.replace(tzinfo=zone) if at.tzinfo is None else at.astimezone(zone)
