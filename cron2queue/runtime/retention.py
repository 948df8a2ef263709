"""How long ended jobs and what belongs to them are kept: the plan's table [retention], in days; `false` keeps for ever.

[retention]
succeeded = 14
cancelled = 14
dead = 90
inbox = 30       # processed messages: as long, a second delivery is known
log = 365        # what operators did
"""

from __future__ import annotations

from collections.abc import Mapping

from cron2queue.record import Record

DAY = 86_400


class Retention(Record):
    """Days; None keeps everything."""

    succeeded: float | None = 14.0
    cancelled: float | None = 14.0
    dead: float | None = 90.0
    inbox: float | None = 30.0
    log: float | None = 365.0

    @property
    def of_states(self) -> Mapping[str, float]:
        """By the state in which a job has ended, for those that go at all."""
        days = {"succeeded": self.succeeded, "cancelled": self.cancelled, "dead": self.dead}
        return {state: age for state, age in days.items() if age is not None}


def days(value: object) -> float | None:
    """A value of the table: a number of days, or false. Raises ValueError for anything else."""
    if value is False:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100_000:
        return float(value)
    raise ValueError("a number of days, or false to keep everything")
