"""Finds new minutes for entries that start together, and proves by counting again that the peak is lower."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING

from cron2queue.analyser.bitcount import add, at_least, counters, minutes_of, peak, take
from cron2queue.analyser.load import DAYS_AHEAD, WHOLE_DAY, Burden
from cron2queue.crontab.schedule import Calendar
from cron2queue.crontab.vixie import STANDARD_NICKNAMES
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile, Entry

MOST_MOVED = 40
MOST_SHIFTS = 29
_ENOUGH_ROOM = 3
_NICKNAMES = {f"@{name.decode()}": fields.decode() for name, fields in STANDARD_NICKNAMES.items() if fields}


class Move(Record):
    """A new schedule for one entry: the same hours and days, other minutes, the same intervals."""

    file: CrontabFile
    entry: Entry
    schedule_text: str
    shift: int


class Spread(Record):
    """Moves that lower the peak of starts in one minute from `before` to `after`, counted over the days ahead.

    `day` (counted from the first day ahead) and `minutes` (a bit set) say where the peak stood before.
    """

    moves: tuple[Move, ...]
    before: int
    after: int
    day: int
    minutes: int


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
    """By how many minutes it can move to the right within its hours, without changing an interval; 0 is not among them.

    Where the star of the minutes is all that makes it follow the clock at a jump, it stays: moved, it has none.
    """
    minutes = _minutes(calendar.minutes)
    step = _even_step(minutes)
    follows_the_clock_by_minute = calendar.minute_star and not calendar.hour_star
    if step is None or step < 2 or calendar.random or follows_the_clock_by_minute:
        return range(0)
    return range(1 - minutes[0], step - minutes[0])


def _five_fields(entry: Entry) -> str:
    return _NICKNAMES.get(entry.schedule_text.strip(), entry.schedule_text)


def moved_text(entry: Entry, calendar: Calendar, shift: int) -> str:
    """The schedule with its minutes moved; the other fields as they are written."""
    rest = _five_fields(entry).split(None, 1)[1]
    minutes = [minute + shift for minute in _minutes(calendar.minutes)]
    if len(minutes) == 1:
        return f"{minutes[0]} {rest}"
    step = 60 // len(minutes)
    short = ",".join(str(minute) for minute in minutes)
    return f"{short if len(minutes) <= 4 else f'{minutes[0]}-59/{step}'} {rest}"


def _moved(bits: int, shift: int) -> int:
    return bits << shift & WHOLE_DAY if shift >= 0 else bits >> -shift


class Calendars:
    """How many entries start in each minute of each kind of day ahead; equal days are one kind."""

    def __init__(self, burdens: Sequence[Burden]) -> None:
        self.starts = [each.starts for each in burdens]
        self._days = [each.days for each in burdens]
        kinds: dict[tuple[int, ...], int] = {}
        patterns = sorted(set(self._days))
        for day in range(DAYS_AHEAD):
            kinds.setdefault(tuple(bits >> day & 1 for bits in patterns), day)
        self.days = sorted(kinds.values())
        self.planes = {day: counters(compress(self.starts, (bits >> day & 1 for bits in self._days))) for day in self.days}

    def peak(self) -> tuple[int, int, int]:
        """The most starts in one minute over the days ahead: how many, on which day, in which minutes (a bit set)."""
        best = (0, 0, 0)
        for day in self.days:
            top, where = peak(self.planes[day], WHOLE_DAY)
            if top > best[0]:
                best = (top, day, where)
        return best

    def runs_on(self, at: int, day: int) -> bool:
        """The entry is due on that day."""
        return bool(self._days[at] >> day & 1)

    def move(self, at: int, shift: int) -> None:
        """Move one entry's minutes on all days."""
        new = _moved(self.starts[at], shift)
        for day in self.days:
            if self.runs_on(at, day):
                take(self.planes[day], self.starts[at])
                add(self.planes[day], new)
        self.starts[at] = new


def spread(burdens: Sequence[Burden], *, target: int, allowed: Sequence[int] | None = None) -> Spread | None:
    """Moves entries out of the fullest minutes, one at a time, until at most `target` start together; None when the peak stays.

    `allowed` holds for each the minutes of the day to which it may move, as bits (None: all of them); members of time-coupled
    chains have none. Every move is into the emptiest minutes nearby, and the peak over all days ahead is counted anew, from
    the moved schedules, at the end.
    """
    table = Calendars(burdens)
    peak_before = before, day, where = table.peak()
    if before <= target:
        return None
    where_to = [WHOLE_DAY] * len(burdens) if allowed is None else allowed
    movable = {at for at, each in enumerate(burdens) if where_to[at] and _can_move(each)}
    moved: dict[int, int] = {}
    top = before
    while movable and len(moved) < MOST_MOVED and top > target:
        ours = [at for at in movable if table.starts[at] & where and table.runs_on(at, day)]
        best = _best_move(burdens, table, ours, list(_levels(table.planes[day], top)), where_to)
        if best is None:
            break
        at, shift = best
        moved[at] = shift
        table.move(at, shift)
        movable.discard(at)
        lower, where = peak(table.planes[day], WHOLE_DAY)
        if lower < top:
            top, day, where = table.peak()
    after = _counted_anew(burdens, moved)
    if after >= before:
        return None
    moves = tuple(_move(burdens[at], shift) for at, shift in sorted(moved.items()))
    return Spread(moves=moves, before=before, after=after, day=peak_before[1], minutes=peak_before[2])


def _counted_anew(burdens: Sequence[Burden], moved: Mapping[int, int]) -> int:
    """The proof: the peak of the schedules as they would be."""
    return Calendars(
        [each.but(starts=_moved(each.starts, moved[at])) if at in moved else each for at, each in enumerate(burdens)]
    ).peak()[0]


def _can_move(each: Burden) -> bool:
    """It holds five fields (some daemons know more nicknames) and has another minute to go to."""
    calendar = each.entry.schedule
    written = len(_five_fields(each.entry).split()) == 5
    return written and not each.part and isinstance(calendar, Calendar) and len(shifts(calendar)) > 1


def _move(each: Burden, shift: int) -> Move:
    calendar = each.entry.schedule
    assert isinstance(calendar, Calendar)
    return Move(file=each.file, entry=each.entry, schedule_text=moved_text(each.entry, calendar, shift), shift=shift)


def _best_move(
    burdens: Sequence[Burden], table: Calendars, ours: list[int], levels: list[int], allowed: Sequence[int]
) -> tuple[int, int] | None:
    """The entry with the fewest starts that finds emptier minutes, and by how much to move it.

    The levels hold the entry's own old minutes too; no move within its hour or step falls on one of them.
    """
    for at in sorted(ours, key=lambda each: (table.starts[each].bit_count(), each)):
        calendar = burdens[at].entry.schedule
        assert isinstance(calendar, Calendar)
        bits, best = table.starts[at], (len(levels), 0, 0)
        for shift in _nearest(shifts(calendar)):
            there = _moved(bits, shift)
            if there & ~allowed[at]:
                continue
            level = _level(levels, there)
            if level <= best[0]:
                choice = (level, -_room(levels, there), shift)
                best = choice if choice[:2] < best[:2] else best
                if best[:2] <= (0, -_ENOUGH_ROOM):
                    break
        if best[0] + 1 < len(levels):
            return at, best[2]
    return None


@lru_cache(maxsize=256)
def _nearest(choices: range) -> tuple[int, ...]:
    """The smallest shifts, to either side, as many as are worth a look."""
    return tuple(sorted((each for each in choices if each), key=abs)[:MOST_SHIFTS])


def _levels(planes: list[int], top: int) -> Iterator[int]:
    """Minutes with at least 1, 2, 3 ... up to `top` starts."""
    for level in range(1, top + 1):
        yield at_least(planes, level)


def _level(levels: Sequence[int], bits: int) -> int:
    """The most other starts in any of the minutes; each level's minutes are among those of the level below."""
    for level, minutes in enumerate(levels):
        if not minutes & bits:
            return level
    return len(levels)


def _room(levels: Sequence[int], bits: int) -> int:
    """How many minutes before and after each of the minutes hold no start, up to three: free neighbours are better."""
    for distance in range(1, _ENOUGH_ROOM + 1):
        if levels[0] & (bits << distance | bits >> distance):
            return distance - 1
    return _ENOUGH_ROOM
