"""Which start an end by text belongs to, by the numbers of the processes that logged them.

The parent logs the end, its child the start. Numbers rise until they come round, and a parent waits for no minute before it
starts its child; so of the starts with higher numbers, the next one is meant.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

SAME = 1.0  # second; moments less apart than this are one, so that whole seconds must be equal
_WRAP = 10_000  # a process id this much smaller than its parent's is later all the same: the numbers began anew
_NEAR = 128  # processes at most that begin between a parent and its child
_HERD = 10.0  # seconds at most from a parent's start to that of its child
_ONE_MINUTE = 55.0
_LAP = 3_600.0  # seconds in which the numbers hardly come round


class Start(Protocol):
    """What is asked of a start: when, by which process, and whether it may have ended unseen."""

    at: float
    pid: int
    doubtful: bool


StartT = TypeVar("StartT", bound=Start)


def may_be_child(child: int, parent: int) -> bool:
    """Whether a process of this number can be the child of that one."""
    return child > parent or parent - child > _WRAP


def fitting(alive: Sequence[StartT], parent: int, log_begins: float) -> list[StartT]:
    """Those of the live starts that this parent can have ended, likeliest first; without a number, in their order.

    At the log's beginning the parent must be near, since it may be that of a run which began before the log.
    """
    if not parent:
        return [each for each in alive if not each.doubtful] or list(alive)
    fits = (each for each in alive if may_be_child(each.pid, parent))
    near = (each for each in fits if each.at >= log_begins + _ONE_MINUTE or each.pid - parent <= _NEAR)
    return sorted(near, key=lambda each: (each.pid < parent, each.pid))


def rivals(fits: Iterable[Start], own: Start, parent: int) -> list[float]:
    """When those began which may be meant as well as the likeliest, itself included."""
    return [each.at for each in fits if not parent or not _HERD < abs(each.at - own.at) < _LAP]
