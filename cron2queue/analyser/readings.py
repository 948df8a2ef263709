"""What rules ask of every command line, read once for all the entries that have the same: a fleet has many."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

from cron2queue.analyser.guards import locks_of
from cron2queue.analyser.naming import job_name
from cron2queue.analyser.sameness import essence, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cron2queue.crontab.lines import Entry


class _Reading(NamedTuple):
    runs: int
    name: str
    locks: tuple[str | None, ...]


@lru_cache(maxsize=1)
def _read(command: str) -> _Reading:
    locks = tuple([lock.file for lock in locks_of(command)])
    return _Reading(hash(essence(command)), intern(job_name(command)), locks)


class Readings:
    """Each list has one item for each entry, in the order of the entries.

    `keys` are numbers that are equal for those that run the same thing (see `sameness`); `names` the names of the jobs, not
    yet unique; `locks` the files of the locks that the commands take (None: the tool chooses). `order` holds the places of
    the entries, those of equal commands one after another.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        commands = [entry.command for entry in entries]
        self.order = array("l", sorted(range(len(commands)), key=commands.__getitem__))
        self.names = [""] * len(commands)
        self.locks: list[tuple[str | None, ...]] = [()] * len(commands)
        runs = array("q", bytes(8 * len(commands)))
        for at in self.order:
            runs[at], self.names[at], self.locks[at] = _read(commands[at])
        often = Counter(runs)  # variables are compared only where they can tell two apart: a crontab may set thousands
        told = (hash((run, settings(entry))) if often[run] > 1 else run for run, entry in zip(runs, entries, strict=True))
        self.keys = array("q", told)
