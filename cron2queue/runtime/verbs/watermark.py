"""A low watermark for claims that have become slow.

An old snapshot held open elsewhere (a backup) keeps the index entries of consumed jobs alive, and every claim reads
over them, however good the index is. Then a claim goes on behind the last job that it got, and from time to time, or
when that does not fill it, from the start: so a job that came back before the mark waits a moment at most.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from cron2queue.runtime.backend import Want
from cron2queue.runtime.jobs import Job

SLOW_SECONDS: Final = 0.004
SLOW_STREAK: Final = 16  # so many slow claims in a row, none of them short: a backlog behind dead entries
RESCAN_SECONDS: Final = 0.25


@dataclass(slots=True)
class Claim:
    """One claim, as it is asked for and as it was answered."""

    want: Want
    jobs: list[Job] = field(default_factory=list)


@dataclass(slots=True)
class _Mark:
    after: tuple[int, int]
    from_start_at: float


class Watermarks:
    """The marks of one store, by queue and kinds."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._marks: dict[tuple[str, tuple[str, ...]], _Mark] = {}
        self._slow: dict[tuple[str, tuple[str, ...]], int] = {}

    def forget(self) -> None:
        """Start the next claims from the start: something was given back."""
        self._marks.clear()
        self._slow.clear()

    @contextmanager
    def measured(self, want: Want) -> Iterator[Claim]:
        """Give the claim a mark if there is one; learn from its answer and from how long it took."""
        began = self._monotonic()
        place = (want.queue, want.kinds)
        mark = self._marks.get(place)
        if mark is not None and began - mark.from_start_at >= RESCAN_SECONDS:
            mark = None
        claim = Claim(want=want if mark is None else replace(want, after=mark.after))
        yield claim
        self._learn(place, claim, mark, began)

    def _learn(self, place: tuple[str, tuple[str, ...]], claim: Claim, mark: _Mark | None, began: float) -> None:
        full = bool(claim.jobs) and len(claim.jobs) == claim.want.limit
        if mark is None:
            slow = self._monotonic() - began >= SLOW_SECONDS
            self._slow[place] = self._slow.get(place, 0) + 1 if full and slow else 0
        if not full or self._slow.get(place, 0) < SLOW_STREAK:
            self._marks.pop(place, None)
            return
        last = claim.jobs[-1]
        self._marks[place] = _Mark((last.priority, last.id), began if mark is None else mark.from_start_at)
