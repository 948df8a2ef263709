"""The evidence for one entry: figures of its runs in a window, each with what it rests on."""

from __future__ import annotations

from datetime import datetime

from cron2queue.evidence.runs import Pairing
from cron2queue.record import Record


class Window(Record):
    """The time between the first and the last thing seen, both aware and in UTC."""

    start: datetime
    end: datetime

    @property
    def days(self) -> float:
        """Length in days."""
        return (self.end - self.start).total_seconds() / 86400

    def joined(self, other: Window | None) -> Window:
        """The smallest window that holds both."""
        return self if other is None else Window(start=min(self.start, other.start), end=max(self.end, other.end))


class Emptiness(Record):
    """How often the entry found nothing to do.

    `share` is between 0 and 1, of `n` runs. `confidence` is "measured" (from the runs' output, processor time or own
    words) or "inferred" (from durations alone).
    """

    share: float
    n: int
    confidence: str
    reason: str


class Bounds(Record):
    """What is known of durations when several ends fit each start: nothing but limits, in seconds.

    The true median lies between `median_low` and `median_high`; no run took more than `max_high` (None: no limit known).
    """

    n: int
    median_low: float
    median_high: float | None
    max_high: float | None


class Failure(Record):
    """One run that ended badly."""

    at: datetime
    exit_status: int | None = None
    signal: int | None = None


class Evidence(Record):
    """What was seen of one entry. A figure that is not known is None, never zero.

    `starts` counts all starts, `n` those with a known duration, `open` those whose end was cut off, `statuses` those
    with a known end status. `pairing` is that of the weakest of the n. Durations are known to `resolution` seconds: a
    median of 0 at resolution 1 says "under a second". `met_predecessor` is the share of starts that met a live run of
    the same entry, `silent` the share of runs without any output. `shares_with` names the entries that cannot be told
    apart from this one in the log; all of them then show the same figures, of all of them together.
    """

    window: Window
    starts: int = 0
    n: int = 0
    open: int = 0
    pairing: Pairing | None = None
    median_seconds: float | None = None
    p95_seconds: float | None = None
    max_seconds: float | None = None
    resolution: float = 1.0
    bounds: Bounds | None = None
    trend_seconds_per_day: float | None = None
    failures: int | None = None
    statuses: int = 0
    last_failure: Failure | None = None
    met_predecessor: float | None = None
    silent: float | None = None
    outputs: int = 0
    """Runs of which it is known whether they wrote anything."""
    empty: Emptiness | None = None
    cpu_median_seconds: float | None = None
    max_rss_bytes: int | None = None
    background: bool = False
    """The command puts its work into the background, so that cron does not see how long it takes."""
    shares_with: tuple[str, ...] = ()
    source: str = ""

    @property
    def failure_share(self) -> float | None:
        """Failures of the runs with a known status, or None when there are none."""
        return None if self.failures is None or not self.statuses else self.failures / self.statuses
