"""What an INSERT of jobs sends: no column in which no job has anything, and once what all jobs have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from cron2queue.runtime.backend import COUNTERS, NEW_COLUMNS, NEW_NAMES, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    Places = tuple[int, ...]

SKIPPING: Final = " ON CONFLICT DO NOTHING RETURNING id"
_NOW: Final = ("created_at", "run_at", "ready_at")


class Parted:
    """Rows by columns: the places of those that are `alike` in all rows, and of those that are `differing`."""

    __slots__ = ("alike", "columns", "differing")

    def __init__(self, rows: Sequence[Row]) -> None:
        self.columns = list(zip(*rows, strict=True))
        first, count = rows[0], len(rows)
        same = [cells.count(first[place]) == count for place, cells in enumerate(self.columns)]
        self.alike: Places = tuple([place for place, alike in enumerate(same) if alike and first[place] is not None])
        self.differing: Places = tuple([place for place, alike in enumerate(same) if not alike])

    @property
    def common(self) -> list[object]:
        """The cells that all rows share."""
        return [self.columns[place][0] for place in self.alike]


def names_of(places: Places) -> str:
    """The columns of an INSERT."""
    return ", ".join([*(NEW_NAMES[place] for place in places), *COUNTERS])


def filled(row: Row) -> Places:
    """The places at which a row has something."""
    return tuple([place for place, cell in enumerate(row) if cell is not None])


@cache
def current(places: Places, mark: Callable[[str], str]) -> str:
    """INSERT of one job as of now, unless the version of pauses and limits has changed; `mark` is a parameter of a type."""
    given = ", ".join(mark(NEW_COLUMNS[NEW_NAMES[place]]) for place in places)
    return f"{as_of_now(places, given)} WHERE true"


def as_of_now(places: Places, given: str) -> str:
    """INSERT .. SELECT .. FROM, with a first table that has no row if the version has changed: its parameter."""
    return (
        f"INSERT INTO {{jobs}} ({', '.join(_NOW)}, {names_of(places)}) SELECT moment, moment, moment, {given}, 0, 0, 0 "
        "FROM (SELECT {now} AS moment FROM {controls} WHERE id = 1 AND version = ?) m"
    )
