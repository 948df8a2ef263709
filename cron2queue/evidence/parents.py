"""Which start an end by text belongs to, by the numbers of the processes that logged them.

The parent logs the end, its child the start. Numbers rise until they come round, and a parent waits for no minute before it
starts its child; so of the starts with higher numbers, the next one is meant.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

SAME = 1.0  # second; moments less apart than this are one, so that whole seconds must be equal
WRAP = 10_000  # a process id this much smaller than its parent's is later all the same: the numbers began anew
NEAR = 128  # processes at most that begin between a parent and its child, unless many jobs start together
_FAR = 1_000  # processes that never begin between them
_FIRST = 300  # the lowest number when they begin anew
_HERD = 10.0  # seconds at most from a parent's start to that of its child
_ONE_MINUTE = 55.0
LAP = 3_600.0  # seconds in which the numbers hardly come round


class Start(Protocol):
    """What is asked of a start: when, by which process, whether the host has started anew since then, and which number was
    in use before its parent began (0: not known).
    """

    at: float
    pid: int
    doubtful: bool
    floor: int


class Floor:
    """The highest process number that was in use in the minutes before: whatever begins now has a higher one.

    A host that began anew unseen, or two daemons that number apart, give a start that has not; then nothing is known.
    """

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int]] = deque()
        self._at, self._pid = 0.0, 0
        self._last = 0
        self.laps = 0
        """How often the numbers came round, as far as it is seen."""

    def below(self, at: float, pid: int) -> int:
        """What the parent of this start must be above; 0 where that is not known."""
        recent = self._recent
        self.laps += self._last - pid > WRAP
        self._last = pid
        while recent and recent[0][0] < at - _ONE_MINUTE:
            self._at, before = recent.popleft()
            if before > self._pid or self._pid - before > WRAP:
                self._pid = before
        if pid <= self._pid <= pid + WRAP:
            recent.clear()
            self._pid = 0
        recent.append((at, pid))
        return self._pid if at - self._at < LAP else 0


StartT = TypeVar("StartT", bound=Start)


def may_be_child(child: int, parent: int) -> bool:
    """Whether a process of this number can be the child of that one."""
    return child > parent or parent - child > WRAP


def fitting(alive: Sequence[StartT], parent: int, log_begins: float) -> list[StartT]:
    """Those of the live starts that this parent can have ended, likeliest first; without a number, in their order.

    At the log's beginning the parent must be near, since it may be that of a run which began before the log. What may have
    ended with the host is asked only where nothing else fits.
    """
    fits = [each for each in alive if not parent or _may_be_its_own(each, parent, log_begins)]
    fits = [each for each in fits if not each.doubtful] or fits
    return sorted(fits, key=lambda each: (each.pid < parent, each.pid)) if parent else fits


def _may_be_its_own(start: Start, parent: int, log_begins: float) -> bool:
    if not may_be_child(start.pid, parent) or _between(parent, start.pid) > _FAR:
        return False
    if start.floor and not may_be_child(parent, start.floor):
        return False
    return start.at >= log_begins + _ONE_MINUTE or start.pid - parent <= NEAR


def _between(parent: int, child: int) -> int:
    """How many processes began between the two, at least."""
    return child - (parent if child > parent else _FIRST)


def rivals(fits: Iterable[Start], own: Start, parent: int) -> list[float]:
    """When those began which may be meant as well as the likeliest, itself included."""
    return [each.at for each in fits if not parent or not _HERD < abs(each.at - own.at) < LAP]
