"""Lanes: what may be claimed together. A queue has a lane for kinds run one by one, for short and for waiting kinds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.worker.options import Timing


class Mode(StrEnum):
    """How a child takes the jobs of a lane."""

    SINGLE = "single"
    GROUP = "group"
    THREADS = "threads"


@dataclass(slots=True, kw_only=True)
class Lane:
    """One claim's worth of queue and kinds, and when to look again. `width`: jobs (or children) at one time."""

    number: int
    queue: str
    kinds: tuple[str, ...]
    mode: Mode
    width: int
    next_look: float = 0.0
    pause: float = 0.0
    in_flight: int = 0
    cautious: bool = False  # jobs that were in the hands of a dead worker are run alone: one of them may be the cause

    def look_now(self) -> None:
        """There may be something: a hint, or jobs that were left behind."""
        self.next_look = 0.0
        self.pause = 0.0

    def looked(self, found: int, wanted: int, now: float, timing: Timing, random: Random) -> None:
        """Note how a look went: a full catch looks again at once, an empty one ever later, with jitter."""
        if found >= wanted:
            self.look_now()
            return
        if found:
            self.pause = 0.0
        self.pause = min(timing.poll, max(timing.first_poll, self.pause * 2))
        self.next_look = now + self.pause * random.uniform(0.75, 1.25)


def _mode_of(options: HandlerOptions) -> Mode:
    if options.waits_only:
        return Mode.THREADS
    return Mode.GROUP if options.short else Mode.SINGLE


def lanes_for(queues: Mapping[str, int], kinds: Iterable[HandlerOptions]) -> list[Lane]:
    """The lanes of a worker. Any kind may stand in any queue: each queue looks for all kinds that are known."""
    by_mode: dict[Mode, list[str]] = {}
    for options in kinds:
        by_mode.setdefault(_mode_of(options), []).append(options.kind)
    found: list[Lane] = []
    for queue, width in queues.items():
        for mode, names in by_mode.items():
            found.append(Lane(number=len(found), queue=queue, kinds=tuple(sorted(names)), mode=mode, width=width))
    return found
