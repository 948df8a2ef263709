"""Instants as the tables hold them: microseconds since 1970 UTC, in one integer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
LAST: Final = 253_402_300_799_000_000  # the end of the year 9999, which datetime can still hold


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC of an aware datetime. A naive one is a TypeError: its meaning is unknown."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The aware datetime (UTC) of microseconds since 1970; out of range, the nearest there is."""
    return EPOCH + min(max(micros, -62_135_596_800_000_000), LAST) * MICROSECOND


def seconds(value: float) -> int:
    """Seconds as microseconds, at least zero and never so many that a date could not be told."""
    if value != value:  # not a number
        return 0
    return int(min(max(value, 0.0), 100 * 365 * 86400) * 1_000_000)
