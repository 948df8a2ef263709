"""A block of a log in short: the runs that begin and end in it with nothing in between to doubt them, and what is left over.

Most of a log are such runs. They are counted here already, and told as columns, so that each costs next to nothing; whatever
is not so plain stays an event (see pairing.py). Both together say just what the block's lines say one by one.
"""

from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from cron2queue.evidence.log_format import Event, Subject
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.slope import Slope


@dataclass(slots=True, kw_only=True)
class Share:
    """What one subject has in a block: how often it begins, and its closed runs; times in seconds since 1970.

    Of the closed runs is told when the last of them ends, how often each duration occurs, and their trend. `alive`: so many
    runs of it, from before the block, must wait for an end, or the closed runs are not so sure; None when a key joins start
    and end, so that nothing else can be theirs.
    """

    subject: Subject
    source: str
    pairing: Pairing = Pairing.EXACT
    count: int = 0
    ended: float = 0.0
    seconds: Counter[float] = field(default_factory=Counter)
    slope: Slope = field(default_factory=Slope)
    alive: int | None = None


@dataclass(slots=True, kw_only=True)
class Batch:
    """One block of one host; `first` and `last` are the times of its events.

    `begun` and `whose` are all starts in the order of time: when, and the number of the share. `left` are the events that
    remain, in order, each with its place among the starts, or -1 when it is none of them. `met` are those of the closed
    runs (share, start, end) that lived when another began. `pids` are the processes that logged the closed ends, one
    behind the other. `bare`: it holds only when no session waits for a command. `stamps` are the first and last, and what
    they were read as. `events` reads the block again, line by line.
    """

    host: bytes
    first: float
    last: float
    shares: list[Share]
    begun: "array[float]"
    whose: "array[int]"
    left: list[tuple[int, Event]]
    met: list[tuple[int, float, float]]
    pids: bytes
    bare: bool
    stamps: tuple[tuple[bytes, float], ...]
    events: Callable[[], list[Event]] = list
