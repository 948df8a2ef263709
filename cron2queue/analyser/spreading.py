"""Finds new minutes for entries that start together, and proves by counting again that the peak is lower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cron2queue.analyser.bitcount import counters, minutes_of, peak
from cron2queue.analyser.load import DAY, DAYS_AHEAD, WHOLE_DAY, Burden
from cron2queue.crontab.schedule import Calendar

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile, Entry

MOST_MOVED = 40
_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A new schedule for one entry: the same hours and days, other minutes, the same intervals."""

    file: CrontabFile
    entry: Entry
    schedule_text: str
    shift: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Moves that lower the peak of starts in one minute from `before` to `after`, counted over the days ahead."""

    moves: tuple[Move, ...]
    before: int
    after: int


@lru_cache(maxsize=4096)
def _minutes(bits: int) -> tuple[int, ...]:
    return tuple(minutes_of(bits))


def _even_step(minutes: tuple[int, ...]) -> int | None:
    """The distance of minutes that stand evenly in the hour: 5 for */5, 60 for a single one; None for uneven ones."""
    if not minutes or 60 % len(minutes):
        return None
    step = 60 // len(minutes)
    return step if all(minute == minutes[0] + at * step for at, minute in enumerate(minutes)) else None


def shifts(calendar: Calendar) -> range:
    """By how many minutes it can move to the right within its hours, without changing an interval; 0 is not among them."""
    minutes = _minutes(calendar.minutes)
    step = _even_step(minutes)
    if step is None or step < 2 or calendar.random:
        return range(0)
    return range(1 - minutes[0], step - minutes[0])


def moved_text(entry: Entry, calendar: Calendar, shift: int) -> str:
    """The schedule with its minutes moved; the other fields as they are written."""
    text = _NICKNAMES.get(entry.schedule_text.strip(), entry.schedule_text)
    rest = text.split(None, 1)[1]
    minutes = [minute + shift for minute in _minutes(calendar.minutes)]
    if len(minutes) == 1:
        return f"{minutes[0]} {rest}"
    step = 60 // len(minutes)
    short = ",".join(str(minute) for minute in minutes)
    return f"{short if len(minutes) <= 4 else f'{minutes[0]}-59/{step}'} {rest}"


def _moved(each: Burden, shift: int) -> int:
    return each.starts << shift & WHOLE_DAY if shift >= 0 else each.starts >> -shift


def peak_of_starts(burdens: Sequence[Burden], starts: Sequence[int]) -> tuple[int, int, int]:
    """The most starts in one minute over the days ahead: how many, on which day, in which minutes (a bit set)."""
    best = (0, 0, 0)
    seen: set[tuple[int, ...]] = set()
    patterns = sorted({each.days for each in burdens})
    for day in range(DAYS_AHEAD):
        today = tuple(bits >> day & 1 for bits in patterns)
        if today in seen:
            continue
        seen.add(today)
        top, where = peak(counters(bits for each, bits in zip(burdens, starts, strict=True) if each.days >> day & 1), WHOLE_DAY)
        if top > best[0]:
            best = (top, day, where)
    return best


def spread(burdens: Sequence[Burden], *, fixed: frozenset[tuple[str, int]] = frozenset()) -> Spread | None:
    """Moves entries out of the fullest minutes, one at a time, as long as the peak sinks; None when it cannot.

    Entries `fixed` by (path, line) stay: members of time-coupled chains. Every move is into the emptiest minutes that it
    can reach, and the peak over all days ahead is counted again at the end.
    """
    starts = [each.starts for each in burdens]
    before = peak_of_starts(burdens, starts)[0]
    movable = {at for at, each in enumerate(burdens) if (each.file.path, each.entry.number) not in fixed and _can_move(each)}
    moved: dict[int, int] = {}
    while movable and len(moved) < MOST_MOVED:
        top, day, where = peak_of_starts(burdens, starts)
        ours = [at for at in movable if starts[at] & where and burdens[at].days >> day & 1]
        best = _best_move(burdens, starts, ours, day)
        if top <= 2 or best is None:
            break
        at, shift = best
        moved[at] = shift
        starts[at] = _moved(burdens[at], shift)
        movable.discard(at)
    after = peak_of_starts(burdens, starts)[0]
    if after >= before:
        return None
    return Spread(moves=tuple(_move(burdens[at], shift) for at, shift in sorted(moved.items())), before=before, after=after)


def _can_move(each: Burden) -> bool:
    return isinstance(each.entry.schedule, Calendar) and len(shifts(each.entry.schedule)) > 1


def _move(each: Burden, shift: int) -> Move:
    calendar = each.entry.schedule
    assert isinstance(calendar, Calendar)
    return Move(file=each.file, entry=each.entry, schedule_text=moved_text(each.entry, calendar, shift), shift=shift)


def _best_move(burdens: Sequence[Burden], starts: Sequence[int], ours: list[int], day: int) -> tuple[int, int] | None:
    """The entry with the fewest starts that finds emptier minutes, and by how much to move it."""
    counts = _counts(burdens, starts, day)
    for at in sorted(ours, key=lambda each: (starts[each].bit_count(), each)):
        calendar = burdens[at].entry.schedule
        assert isinstance(calendar, Calendar)
        own = _minutes(starts[at])
        now = max(counts[minute] for minute in own)
        choices = [(_fullest(counts, own, shift), abs(shift), shift) for shift in shifts(calendar) if shift]
        fullest, _, shift = min(choices, key=lambda choice: (choice[0], -_room(counts, own, choice[2]), choice[1]))
        if fullest + 1 < now:
            return at, shift
    return None


def _counts(burdens: Sequence[Burden], starts: Sequence[int], day: int) -> list[int]:
    counts = [0] * (2 * DAY)
    for each, bits in zip(burdens, starts, strict=True):
        if each.days >> day & 1:
            for minute in _minutes(bits):
                counts[minute] += 1
    return counts


def _fullest(counts: Sequence[int], own: tuple[int, ...], shift: int) -> int:
    return max(counts[minute + shift] for minute in own)


def _room(counts: Sequence[int], own: tuple[int, ...], shift: int) -> int:
    """How far the next start is from the first new minute, up to five minutes: free neighbours are better."""
    at = own[0] + shift
    for distance in range(1, 6):
        if counts[at + distance] or counts[max(0, at - distance)]:
            return distance - 1
    return 5
