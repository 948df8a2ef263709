"""Which start and which end of a block belong together, by columns, where process numbers join them; else by their order."""

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


Line = tuple[int, int]
"""The number of a line, and its place among the starts, or -1 when it is an end."""


class Alternating(NamedTuple):
    """The lines of one subject, where an end belongs to the only run that is alive.

    `pairs` are the numbers of their lines. `left` are all other lines, in order; `leading` of them are ends that come before
    any start.
    """

    pairs: list[tuple[int, int]]
    left: list[Line]
    leading: int


def alternating(lines: Sequence[Line]) -> Alternating:
    """Pairs by the order of lines: in a crowd, from the moment at which two were alive until none is, nothing is sure."""
    pairs: list[tuple[int, int]] = []
    left: list[Line] = []
    crowd: list[Line] = []
    alive = leading = 0
    for line in lines:
        if line[1] < 0 and not alive:
            leading += len(left) == leading and not pairs
            left.append(line)
            continue
        alive += 1 if line[1] >= 0 else -1
        crowd.append(line)
        if alive:
            continue
        if len(crowd) == 2:
            pairs.append((crowd[0][0], crowd[1][0]))
        else:
            left += crowd
        crowd = []
    return Alternating(pairs, left + crowd, leading)
