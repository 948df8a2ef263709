"""Process trees as Linux shows them in /proc: who descends from whom, how much memory they take, and how they all end."""

import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ROUNDS = 50  # a fork bomb may outrun one walk; each walk finds all of it stopped but the newest


class Process(NamedTuple):
    """One process; pid and start time (clock ticks since boot) together are never used twice."""

    pid: int
    started: int


class _Stat(NamedTuple):
    process: Process
    parent: int
    zombie: bool


def _stat(pid: int) -> _Stat | None:
    try:
        data = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in parentheses may hold anything, blanks and parentheses too: count from the last one.
    rest = data[data.rindex(b")") + 2 :].split()
    return _Stat(process=Process(pid, int(rest[19])), parent=int(rest[1]), zombie=rest[0] in (b"Z", b"X"))


def identity(pid: int) -> Process | None:
    """The process that has this pid now; None when it is gone or a zombie."""
    found = _stat(pid)
    return found.process if found and not found.zombie else None


def is_alive(process: Process) -> bool:
    """True while that very process runs; a zombie does not."""
    return identity(process.pid) == process


def _children_by_parent() -> dict[int, list[_Stat]]:
    children: dict[int, list[_Stat]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (hundreds of entries, many times a second)
        if name.isdigit() and (found := _stat(int(name))):
            children.setdefault(found.parent, []).append(found)
    return children


def descendants(pid: int, *, without: frozenset[Process] = frozenset()) -> list[Process]:
    """All living descendants of a process; those in `without` are left out together with their own descendants."""
    children = _children_by_parent()
    found: list[Process] = []
    waiting = [pid]
    while waiting:
        for child in children.get(waiting.pop(), []):
            if child.process in without:
                continue
            waiting.append(child.process.pid)
            if not child.zombie:
                found.append(child.process)
    return found


def zombie_children(pid: int, *, without: frozenset[Process] = frozenset()) -> list[Process]:
    """The dead children of a process that nobody has waited for yet."""
    return [each.process for each in _children_by_parent().get(pid, []) if each.zombie and each.process not in without]


def has_children() -> bool:
    """Whether this process has any child, dead or alive: one system call."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def send(process: Process, number: int) -> bool:
    """Signal that very process, never a later one with its pid; False when it is gone."""
    if not is_alive(process):
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, number)
        return True
    return False


def kill_tree(pid: int, *, without: frozenset[Process] = frozenset()) -> int:
    """KILL every descendant of a process, and return how many there were.

    All are stopped first, so that none can fork while the walk goes on; new ones are looked for until there are none.
    The process itself is left alone: while it lives and is a subreaper, no descendant can leave the tree.
    """
    return _until_none(pid, without, _stop_and_kill)


def _stop_and_kill(found: Iterable[Process]) -> None:
    found = list(found)
    for each in found:
        send(each, signal.SIGSTOP)
    for each in found:
        send(each, signal.SIGKILL)


def _until_none(pid: int, without: frozenset[Process], end: Callable[[Iterable[Process]], None]) -> int:
    seen: set[Process] = set()
    for _ in range(_ROUNDS):
        new = [each for each in descendants(pid, without=without) if each not in seen]
        if not new:
            break
        end(new)
        seen.update(new)
    return len(seen)


def kill_orphans(known: frozenset[int], *, without: frozenset[Process] = frozenset()) -> int:
    """KILL and collect every other child of this process than these, with all its descendants; how many.

    When it returns they are gone, and no zombie of them is left.
    """
    ended = 0
    for _ in range(_ROUNDS):
        children = [each.process for each in _children_by_parent().get(os.getpid(), [])]
        orphans = [each for each in children if each.pid not in known and each not in without]
        if not orphans:
            break
        for each in orphans:
            kill_tree(each.pid)
            send(each, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(each.pid, 0)
            ended += 1
    return ended


def rss_bytes(pids: Iterable[int]) -> int:
    """Resident memory of the processes together; shared pages count for each."""
    total = 0
    for pid in pids:
        with suppress(OSError, IndexError):
            total += int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * PAGE_BYTES
    return total
