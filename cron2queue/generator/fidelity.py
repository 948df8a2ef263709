"""The proof that a target starts a job exactly when cron did: all starts of 400 days, which hold both clock changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from cron2queue.crontab.schedule import Fire, Schedule

SPAN = timedelta(days=400)
SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One start that only one of the two has."""

    at: datetime
    old: bool

    def __str__(self) -> str:
        who = "cron starts it, the target does not" if self.old else "the target starts it, cron does not"
        return f"{self.at.isoformat(timespec='minutes')}: {who}"


def _instants(fires: Iterable[Fire]) -> Iterator[tuple[float, datetime]]:
    """By real time: two wall times of one zone compare without their fold, and those of two zones are never equal in it."""
    return ((fire.at.timestamp(), fire.at) for fire in fires)


_NEVER = (float("inf"), datetime.max)


def _merged(old: Iterable[Fire], new: Iterable[Fire]) -> Iterator[Difference]:
    left, right = _instants(old), _instants(new)
    one, other = next(left, _NEVER), next(right, _NEVER)
    while one is not _NEVER or other is not _NEVER:
        if one[0] == other[0]:
            one, other = next(left, _NEVER), next(right, _NEVER)
        elif one[0] < other[0]:
            yield Difference(at=one[1], old=True)
            one = next(left, _NEVER)
        else:
            yield Difference(at=other[1], old=False)
            other = next(right, _NEVER)


def differences(old: Iterable[Fire], new: Iterable[Fire], limit: int = SHOWN) -> list[Difference]:
    """The first differences in time; an empty list is the proof."""
    return list(islice(_merged(old, new), limit))


def schedules_differ(old: Schedule, new: Schedule, start: datetime, zone: ZoneInfo) -> list[Difference]:
    """The same for two schedules of one daemon. Equal bit sets under equal rules need no counting."""
    if old == new:
        return []
    end = start + SPAN
    return differences(old.fires_between(start, end, zone), new.fires_between(start, end, zone))
