"""Which start and which end of a block belong together, by columns, where process numbers join them; else by their order."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import compress, count, repeat
from operator import lt
from typing import NamedTuple


class Lines(NamedTuple):
    """Columns of starts, or of ends: the number of the job's line, time, logger and child."""

    row: list[int]
    at: list[float]
    pid: list[bytes]
    child: list[bytes]

    def only(self, chosen: Sequence[bool]) -> "Lines":
        """Those of the chosen places."""
        row, at, pid, child = self
        return Lines(
            list(compress(row, chosen)), list(compress(at, chosen)), list(compress(pid, chosen)), list(compress(child, chosen))
        )


class Joined(NamedTuple):
    """The ends that are sure, and the places of their starts; then the places of the other starts, and the other ends."""

    ends: Lines
    places: list[int]
    waiting: list[int]
    strays: list[int]
    """The numbers of their lines."""


def joined(starts: Lines, ends: Lines, doubtful: Set[bytes]) -> Joined:
    """What logger and child join. All lines of a logger are left over of which one is doubtful, or not in its place."""
    opened = dict(zip(starts.pid, count()))
    if len(opened) < len(starts.pid):
        doubtful = doubtful | {pid for pid, times in Counter(starts.pid).items() if times > 1}
    for pid in doubtful:
        opened.pop(pid, None)
    found = list(map(opened.pop, ends.pid, repeat(-1)))
    is_joined = [place >= 0 for place in found]
    sure, places = ends.only(is_joined), list(compress(found, is_joined))
    misplaced = set(_misplaced(starts, sure, places))
    if misplaced:
        return joined(starts, ends, doubtful | misplaced)
    waiting = list(opened.values())
    if doubtful:
        waiting = sorted((*waiting, *(place for place, pid in enumerate(starts.pid) if pid in doubtful)))
    return Joined(sure, places, waiting, [row for row, known in zip(ends.row, is_joined, strict=True) if not known])


def _misplaced(starts: Lines, ends: Lines, places: list[int]) -> Iterator[bytes]:
    """The loggers of ends that name another child than the start at their place, or that come before it."""
    children = list(map(starts.child.__getitem__, places))
    rows = list(map(starts.row.__getitem__, places))
    if children != ends.child or not all(map(lt, rows, ends.row)):
        for child, row, each, pid, its in zip(children, rows, ends.row, ends.pid, ends.child, strict=True):
            if child != its or row > each:
                yield pid


class Alternating(NamedTuple):
    """Start and end by the numbers of their lines, the same of lines that are left, and how many ends come before any start."""

    starts: list[int]
    ends: list[int]
    left: list[int]
    leading: int


def alternating(starts: list[int], ends: list[int]) -> Alternating:
    """Pairs of one subject by the order of its lines: an end belongs to the only run that is alive."""
    leading = bisect_left(ends, starts[0]) if starts else len(ends)
    inner = ends[leading:]
    if len(starts) - len(inner) in (0, 1) and all(map(lt, starts, inner)) and all(map(lt, inner, starts[1:])):
        return Alternating(starts[: len(inner)], inner, ends[:leading] + starts[len(inner) :], leading)
    found = Alternating([], [], ends[:leading], leading)
    crowd: list[int] = []
    alive = 0
    for row, step in sorted([*((row, 1) for row in starts), *((row, -1) for row in inner)]):
        crowd.append(row)
        alive += step
        if alive < 0:  # of a run whose start is missing; its end may be any of them
            return Alternating([], [], sorted((*starts, *ends)), leading)
        if alive:
            continue
        if len(crowd) == 2:
            found.starts.append(crowd[0])
            found.ends.append(crowd[1])
        else:
            found.left.extend(crowd)
        crowd = []
    found.left.extend(crowd)
    return found
