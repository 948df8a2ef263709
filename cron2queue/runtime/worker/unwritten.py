"""Ends that wait to be written: most in groups, those of strict kinds each by itself."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from cron2queue.runtime.jobs import Settlement

_MOST_IN_ONE_COMMIT = 200
_MOST_AT_A_TURN = 32  # of those that have a commit each; then the pump looks around again


@dataclass(slots=True)
class Unwritten:
    """`since`: when the oldest of the group came, on CLOCK_MONOTONIC."""

    group: list[Settlement] = field(default_factory=list)
    alone: list[Settlement] = field(default_factory=list)
    since: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.group or self.alone)

    def add(self, settlement: Settlement, *, strict: bool) -> None:
        """One more. `strict`: it gets a commit of its own."""
        if strict:
            self.alone.append(settlement)
            return
        if not self.group:
            self.since = time.monotonic()
        self.group.append(settlement)

    def for_one_commit(self) -> list[Settlement]:
        """What may be written in the next transaction."""
        return self.group[:_MOST_IN_ONE_COMMIT] or self.alone[:1]

    def written(self, batch: Sequence[Settlement]) -> None:
        """What `for_one_commit` gave has been."""
        del (self.group or self.alone)[: len(batch)]
        self.since = time.monotonic()

    def for_a_commit_each(self) -> list[Settlement]:
        """As many as are written before the next look around."""
        return self.alone[:_MOST_AT_A_TURN]

    def written_each(self, batch: Sequence[Settlement], still: Sequence[Settlement]) -> None:
        """What `for_a_commit_each` gave has been, but for those that are `still` to be."""
        self.alone[: len(batch)] = still

    def tokens(self) -> Iterable[str]:
        """The leases that these ends name."""
        return (each.job.lease.token for each in chain(self.group, self.alone))
