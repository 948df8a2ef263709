"""What one look at a log or a recording knows of one execution."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from cron2queue.record import Record


class Pairing(StrEnum):
    """How surely a start and an end belong together.

    EXACT: one key, written by the daemon, joins both. GOOD: nothing else fits. AMBIGUOUS: several fit, so that only
    bounds of the duration are known, and never a number.
    """

    EXACT = "exact"
    GOOD = "good"
    AMBIGUOUS = "ambiguous"


class Run(Record):
    """One observed execution; `started` and `ended` are aware and in UTC.

    `ended` is None when no end is known: because the source never writes one, or because the end was cut off by the
    log's edge, a reboot or a gap (`open`), or because several ends fit (then `at_least` and `at_most` bound the
    duration, in seconds). `output` is None where the source cannot tell. `entry_hint` is whatever the source itself
    says of the entry: an entry's fingerprint, a unit's name.
    """

    started: datetime
    ended: datetime | None = None
    open: bool = False
    user: str = ""
    command: str = ""
    exit_status: int | None = None
    signal: int | None = None
    output: bool | None = None
    pairing: Pairing = Pairing.EXACT
    source: str = ""
    entry_hint: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    cpu_seconds: float | None = None
    max_rss_bytes: int | None = None
    nothing_to_do: bool | None = None
    skipped: bool = False
    """The daemon itself refused the start, since the run before was alive (BusyBox, systemd)."""

    @property
    def seconds(self) -> float | None:
        """How long it ran, or None where that is not known."""
        return None if self.ended is None else (self.ended - self.started).total_seconds()

    @property
    def failed(self) -> bool | None:
        """Whether it ended badly, or None where the source does not tell."""
        if self.exit_status is None and self.signal is None:
            return None
        return bool(self.exit_status) or self.signal is not None
