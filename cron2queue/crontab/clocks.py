"""What a daemon's main loop does when local time jumps: its own rule for each kind of clock.

All instants are whole minutes: `utc` since 1970-01-01 UTC, `local` the same count shifted by the offset in force.
"""

import functools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import NamedTuple

# Vixie cron's main loop: up to 5 minutes late everything is made up for, up to three hours the fixed times only.
_SMALL_JUMP = 5
_LARGE_JUMP = 180
# After each minute that started something, the loop sleeps so that a burst does not start at once.
_BREATH_SECONDS = 10
_WAKE_SECOND = 1


class ClockRule(StrEnum):
    """How a daemon follows local time.

    DEBIAN: every change of the UTC offset is a jump of the clock; fixed times in a gap run right after it, fixed times
    in a repeated hour run once, schedules with a wildcard minute or hour follow the clock.
    VIXIE: the same (cronie, OpenBSD), but a change is noticed only when tm_isdst changes too.
    FREEBSD: cron -s; a job due in the gap runs once an hour later, in the repeated hour it waits for the old clock.
    WALL: each real minute is matched as it reads (BusyBox): a skipped hour is skipped, a repeated one runs twice.
    SYSTEMD: as WALL, but a repeated wall time elapses once.
    """

    DEBIAN = "debian"
    VIXIE = "vixie"
    FREEBSD = "freebsd"
    WALL = "wall"
    SYSTEMD = "systemd"


class Change(NamedTuple):
    """One change of a zone's UTC offset: the first minute after it, and the offsets in minutes around it."""

    utc: int
    before: int
    after: int
    dst_changes: bool


class Start(NamedTuple):
    """One start of a job: the real minute, and the wall minute it stands for."""

    utc: int
    nominal: int


class Due(NamedTuple):
    """What the loop asks of one entry: is it due in this local minute, and is it a wildcard entry."""

    matches: Callable[[int], bool]
    wildcard: bool
    catches_up: bool = True


def _offset(utc: int, zone: tzinfo) -> tuple[int, bool]:
    moment = datetime.fromtimestamp(utc * 60, zone)
    offset, dst = moment.utcoffset(), moment.dst()
    return (int(offset.total_seconds() // 60) if offset else 0), bool(dst)


def offset_minutes(utc: int, zone: tzinfo) -> int:
    """The zone's offset from UTC, in minutes, in that minute."""
    return _offset(utc, zone)[0]


@functools.lru_cache(maxsize=4096)
def _changes_of_year(zone: tzinfo, year: int) -> tuple[Change, ...]:
    first = int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) // 60
    last = int(datetime(year + 1, 1, 1, tzinfo=UTC).timestamp()) // 60 if year < 9999 else first + 364 * 1440
    found: list[Change] = []
    before = _offset(first, zone)
    for day in range(first, last, 1440):
        end = min(day + 1440, last)
        after = _offset(end, zone)
        if after != before:
            found.extend(_bisect(day, end, zone))
        before = after
    return tuple(found)


def _bisect(low: int, high: int, zone: tzinfo) -> Iterator[Change]:
    """The change between two instants that differ; one is enough for a day."""
    before, after = _offset(low, zone), _offset(high, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(middle, zone) == before:
            low = middle
        else:
            high, after = middle, _offset(middle, zone)
    yield Change(high, before[0], after[0], before[1] != after[1])


def changes(zone: tzinfo, start: int, end: int) -> Iterator[Change]:
    """The offset changes with `start` < first minute after it < `end`, in order."""
    if zone is UTC:
        return
    for year in range(_year(start), _year(end) + 1):
        for change in _changes_of_year(zone, year):
            if start < change.utc < end:
                yield change


def _year(utc: int) -> int:
    return min(9999, max(1, datetime.fromtimestamp(utc * 60, UTC).year))


def jumps(rule: ClockRule, change: Change) -> bool:
    """Whether this daemon notices the change at all."""
    return change.before != change.after and (rule is not ClockRule.VIXIE or change.dst_changes)


def catch_up(due: Due, change: Change, limit: int, *, rule: ClockRule) -> tuple[list[Start], int]:
    """The starts right after a change, and the first minute from which the loop is back to normal."""
    if rule is ClockRule.FREEBSD:
        return _freebsd(due, change, limit)
    return _Loop(due, change, rule).run(limit)


class _Loop:
    """Vixie cron's main loop from the first wake-up after a change on; `seconds` is its real clock."""

    def __init__(self, due: Due, change: Change, rule: ClockRule) -> None:
        self.due = due
        self.offset = change.after
        self.virtual = change.utc - 1 + change.before
        self.seconds = change.utc * 60 + _WAKE_SECOND
        self.starts: list[Start] = []
        # Debian tells a large jump back from three hours on, cronie and OpenBSD from above three hours.
        self.large_back = -_LARGE_JUMP if rule is ClockRule.DEBIAN else -_LARGE_JUMP - 1
        self.pending: int | None = None

    def run(self, limit: int) -> tuple[list[Start], int]:
        while (minute := self.seconds // 60) < limit:
            running = minute + self.offset
            late = running - self.virtual
            if late == 1 or late > _LARGE_JUMP or late <= self.large_back:
                return self.starts, minute
            if late > _SMALL_JUMP:
                self._medium(running)
            elif late > 0:
                self._small(running)
            elif self.due.wildcard and self.due.matches(running):
                self.starts.append(Start(minute, running))
            self.seconds = max(self.seconds, (running + 1 - self.offset) * 60 + _WAKE_SECOND)
        return self.starts, limit

    def _start_pending(self, *, breath: bool) -> None:
        if self.pending is None:
            return
        self.starts.append(Start(self.seconds // 60, self.pending))
        self.pending = None
        if breath:
            self.seconds += _BREATH_SECONDS

    def _medium(self, running: int) -> None:
        if self.due.wildcard and self.due.matches(running):
            self.pending = running
        while True:
            self._start_pending(breath=True)
            self.virtual += 1
            made_up = self.due.catches_up or self.virtual >= running
            if made_up and not self.due.wildcard and self.due.matches(self.virtual):
                self.pending = self.virtual
            if self.virtual >= running or self.seconds // 60 + self.offset != running:
                break
        self._start_pending(breath=False)

    def _small(self, running: int) -> None:
        while self.virtual < running:
            self._start_pending(breath=True)
            self.virtual += 1
            if (self.due.catches_up or self.virtual >= running) and self.due.matches(self.virtual):
                self.pending = self.virtual
        self._start_pending(breath=False)


def _freebsd(due: Due, change: Change, limit: int) -> tuple[list[Start], int]:
    """cron_tick() of FreeBSD with -s: RUN_AT after a jump forward, NOT_UNTIL after one back."""
    shift = change.after - change.before
    end = min(limit, change.utc + abs(shift))
    ran_lately = any(due.matches(utc + change.before) for utc in range(change.utc - 60, change.utc))
    run_at = shift > 0 and not ran_lately
    not_until = shift < 0
    starts = []
    for utc in range(change.utc, end):
        if (run_at or not_until) and due.matches(utc + change.before):
            if run_at:
                run_at = False
                starts.append(Start(utc, utc + change.after))
                continue
            not_until = False
        if not not_until and due.matches(utc + change.after):
            run_at = False
            starts.append(Start(utc, utc + change.after))
    return starts, end
