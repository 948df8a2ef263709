"""Work in a process that is killed as it speaks to a database: before it says something, or when it has said it and has not
heard the answer. What it says are system calls, so that no line of the product has to know of it.

C2Q_KILL_POINTS=all tries every point; otherwise a few are chosen, by C2Q_SEED or a seed that is printed.
"""

import os
import pickle
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from cutover.killing import Call, run

T = TypeVar("T")

# write, pwrite64, sendto, sendmsg, writev, fsync, fdatasync, ftruncate, rename, mkdir, creat, link, unlink of x86-64: after
# any of these the world may be another one. On other processors every call is taken for one of them.
_SPEAKING = frozenset({1, 18, 44, 46, 20, 74, 75, 77, 82, 83, 85, 86, 87}) if os.uname().machine == "x86_64" else None


class Point(NamedTuple):
    """Where the kill strikes: at the so-manieth time that it speaks, before it does or right behind it."""

    number: int
    said: bool


def _speaks(call: Call) -> bool:
    return _SPEAKING is None or call.number in _SPEAKING


def _strikes(point: Point) -> Callable[[Sequence[Call]], bool]:
    def now(calls: Sequence[Call]) -> bool:
        spoken = sum(map(_speaks, calls[:-1]))
        return spoken == point.number + 1 if point.said else spoken == point.number and _speaks(calls[-1])

    return now


def killed_at(work: Callable[[], object], point: Point | None, report: Path) -> tuple[bool, int]:
    """Whether the kill came before the end of the work, and how often it spoke. Work that fails by itself is a failure here."""
    report.unlink(missing_ok=True)
    reading, writing = os.pipe()
    middle = os.fork()
    if middle == 0:  # it waits for all of its children, and this process has others
        try:
            calls = run(lambda: _told(work, report), None if point is None else _strikes(point))
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(sum(map(_speaks, calls)), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        spoken = int(pickle.load(pipe))
    os.waitpid(middle, 0)
    said = report.read_text() if report.exists() else ""
    assert said in ("", "done"), said
    return said == "", spoken


def _told(work: Callable[[], object], report: Path) -> None:
    try:
        work()
        end = "done"
    except BaseException:
        end = traceback.format_exc()
    report.write_text(end)


def random() -> Random:
    """The seed is printed, and C2Q_SEED repeats it."""
    seed = int(os.environ.get("C2Q_SEED") or int.from_bytes(os.urandom(4), "big"))
    print(f"seed: C2Q_SEED={seed}")
    return Random(seed)


def few_of(every: Iterable[T], few: int, by: Random) -> list[T]:
    """A few of them in their order, or with C2Q_KILL_POINTS=all each."""
    all_of_them = list(every)
    if os.environ.get("C2Q_KILL_POINTS") == "all" or len(all_of_them) <= few:
        return all_of_them
    return [all_of_them[at] for at in sorted(by.sample(range(len(all_of_them)), few))]


def points(spoken: int) -> list[Point]:
    """Every point of work that speaks so often."""
    return [Point(number, said) for number in range(spoken) for said in (False, True)]
