"""Numbers in the words of a screen: short, aligned by eye, never more exact than they are."""

from datetime import UTC, datetime

from cron2queue.durations import duration
from cron2queue.redaction import redact
from cron2queue.text import safe_text

__all__ = ["duration", "how_it_ended", "moment", "plural", "share", "shown", "size"]


def size(count: int | None) -> str:
    """Bytes as `512 B`, `44 MB`, `1.2 GB`."""
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def moment(at: datetime | None, now: datetime) -> str:
    """The time of day for today, with the date for any other day; UTC."""
    if at is None:
        return "-"
    at = at.astimezone(UTC)
    return f"{at:%H:%M:%S}" if at.date() == now.astimezone(UTC).date() else f"{at:%Y-%m-%d %H:%M}"


def share(value: float | None) -> str:
    """A share as per cent, `-` when unknown; small shares are never rounded to nothing."""
    if value is None:
        return "-"
    if value < 0.001:
        return "<0.1%" if value > 0 else "0%"
    return f"{value:.1%}" if value < 0.0995 else f"{value:.0%}"


def plural(count: int, noun: str) -> str:
    """`1 worker`, `3 workers`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def shown(text: str | None) -> str:
    """Foreign text for one cell, secrets masked, safe in a terminal and a log; `-` for none."""
    return safe_text(redact(text)) if text else "-"


def how_it_ended(exit_status: int | None, signal: int | None) -> str:
    """`exit 3`, `signal 9`, or nothing when the handler was a function."""
    if signal is not None:
        return f"signal {signal}"
    return "" if exit_status is None else f"exit {exit_status}"
