"""Time budgets: from what was measured, and below the interval wherever the job allows it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cron2queue.evidence.statistics import Evidence

SHORTEST = 20
LONGEST_UNMEASURED = 6 * 3600
OF_INTERVAL = 0.8
_STEPS = (20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 10800, 14400, 21600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Seconds a run may take, and the sentence that says where the number comes from."""

    seconds: int
    why: str


def rounded_up(seconds: float) -> int:
    """The next number of seconds that a person would choose."""
    return next((step for step in _STEPS if step >= seconds), math.ceil(seconds / 3600) * 3600)


def _unmeasured(gap: float | None, *, scheduler: bool) -> Budget:
    if scheduler:
        why = "not measured: six hours, for a scheduler may work longer than its interval"
        return Budget(seconds=LONGEST_UNMEASURED, why=why)
    if gap is None:
        return Budget(seconds=LONGEST_UNMEASURED, why="not measured: six hours, so that nothing hangs for ever")
    seconds = max(SHORTEST, int(gap * OF_INTERVAL))
    if seconds >= LONGEST_UNMEASURED:
        return Budget(seconds=LONGEST_UNMEASURED, why="not measured: six hours, so that nothing hangs for ever")
    return Budget(seconds=seconds, why="not measured: four fifths of the interval")


def budget(evidence: Evidence | None, gap: timedelta | None, *, said: float | None = None, scheduler: bool = False) -> Budget:
    """The time budget of an entry that starts again after `gap` at the earliest (None: once, or not known).

    `said` is how many seconds a run takes, where nothing was measured and somebody declared it. `scheduler`: it is an
    application's own, which a limit below its interval would kill in the middle of what it had found due.
    Twice the 95th percentile, and half above the longest run seen; capped below the interval unless runs were seen that
    are themselves longer than it: to kill those would lose work that is done today.
    """
    seconds_between = gap.total_seconds() if gap else None
    if evidence is None or evidence.n == 0 or evidence.max_seconds is None:
        if said is None:
            return _unmeasured(seconds_between, scheduler=scheduler)
        return _below(seconds_between, rounded_up(max(2 * said, SHORTEST)), said, f"declared: a run takes {said:.0f} s")
    longest, p95 = evidence.max_seconds, evidence.p95_seconds or evidence.max_seconds
    wanted = rounded_up(max(2 * p95, 1.5 * longest, SHORTEST))
    return _below(seconds_between, wanted, longest, f"measured: p95 {p95:.0f} s, longest {longest:.0f} s of {evidence.n} runs")


def _below(seconds_between: float | None, wanted: int, longest: float, seen: str) -> Budget:
    """Below the interval, unless runs are known to be longer than it."""
    if seconds_between is None or wanted < seconds_between * OF_INTERVAL:
        return Budget(seconds=wanted, why=seen)
    ceiling = int(seconds_between * OF_INTERVAL)
    if longest < ceiling * 0.9:
        return Budget(seconds=ceiling, why=f"{seen}; kept below the interval")
    return Budget(seconds=wanted, why=f"{seen}; runs are longer than the interval")
