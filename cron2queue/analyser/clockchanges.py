"""What a change of the clock does to an entry: read off the fires that its own daemon's rule gives around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from cron2queue.crontab.clocks import changes
from cron2queue.crontab.zones import zone_named
from cron2queue.record import Record

if TYPE_CHECKING:
    from datetime import tzinfo

    from cron2queue.crontab.schedule import Calendar

_AHEAD = timedelta(days=400)
_EPOCH = datetime(1970, 1, 1)
_MINUTE = timedelta(minutes=1)


class ClockChange(Record):
    """One change: the first moment after it, and the wall minutes that do not exist (forward) or come twice (back).

    `first` and `last` are the ends of that time on the wall, naive; `last` is exclusive.
    """

    moment: datetime
    first: datetime
    last: datetime
    forward: bool


class Effect(Record):
    """What an entry does at a change: its named wall minutes in the gap or the repeated time, and its fires for each.

    Both by the clock of the entry's own zone.
    """

    change: ClockChange
    named: tuple[datetime, ...]
    fires: tuple[tuple[datetime, datetime], ...]

    @property
    def skipped(self) -> int:
        """Named minutes for which nothing is started."""
        done = {nominal for _, nominal in self.fires}
        return sum(minute not in done for minute in self.named)

    @property
    def doubled(self) -> int:
        """Starts beyond one for each named minute."""
        return sum(count - 1 for count in Counter(nominal for _, nominal in self.fires).values() if count > 1)


@lru_cache(maxsize=64)
def changes_ahead(zone: tzinfo, at: datetime) -> tuple[ClockChange, ...]:
    """The changes of the zone's offset in the 400 days after `at`."""
    first = int(at.timestamp()) // 60
    found = []
    for change in changes(zone, first, first + int(_AHEAD.total_seconds()) // 60):
        moment = datetime.fromtimestamp(change.utc * 60, UTC)
        wall = _EPOCH + timedelta(minutes=change.utc)
        ends = sorted((wall + timedelta(minutes=change.before), wall + timedelta(minutes=change.after)))
        found.append(ClockChange(moment=moment, first=ends[0], last=ends[1], forward=change.after > change.before))
    return tuple(found)


@lru_cache(maxsize=16384)
def effects(schedule: Calendar, zone: tzinfo, at: datetime) -> tuple[Effect, ...]:
    """For each change ahead that touches a named minute of the schedule."""
    return tuple(_effects(schedule, zone, at))


def own_zone(schedule: Calendar, zone: tzinfo) -> tzinfo:
    """The zone by whose clock the entry's fields are read: its own, or the daemon's."""
    return zone_named(schedule.zone) if schedule.zone else zone


def _effects(schedule: Calendar, zone: tzinfo, at: datetime) -> Iterator[Effect]:
    own = own_zone(schedule, zone)
    places = [(change, change.first) for change in changes_ahead(own, at)]
    if schedule.zone:  # the daemon's own clock goes back: an hour that its entries of other zones may lose
        known = {change.moment for change, _ in places}
        back = (change for change in changes_ahead(zone, at) if not change.forward and change.moment not in known)
        places += [(change, change.moment.astimezone(own).replace(tzinfo=None)) for change in back]
    for change, first in places:
        minutes = schedule.minutes_between(first, first + (change.last - change.first))
        named = tuple(_EPOCH + timedelta(minutes=minute) for minute in minutes)
        if named:
            yield Effect(change=change, named=named, fires=_fires(schedule, change, zone, named))


def _fires(
    schedule: Calendar, change: ClockChange, zone: tzinfo, named: tuple[datetime, ...]
) -> tuple[tuple[datetime, datetime], ...]:
    wanted = set(named)
    around = schedule.fires_between(change.moment - timedelta(hours=4), change.moment + timedelta(hours=5), zone)
    stood_for = ((fire.at, _stands_for(schedule, change, fire.nominal)) for fire in around)
    own = own_zone(schedule, zone)
    return tuple((at.astimezone(own), minute) for at, minute in stood_for if minute in wanted)


def _stands_for(schedule: Calendar, change: ClockChange, minute: datetime) -> datetime:
    """A start in a minute that the schedule does not name makes up for one as far back as the clock went forward."""
    if not change.forward or minute < change.last or schedule.minutes_between(minute, minute + _MINUTE):
        return minute
    return minute - (change.last - change.first)
