"""Durations in the words that every screen, alert and message uses."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def duration(seconds: float | None) -> str:
    """`-`, `420ms`, `12.3s`, `22m10s`, `3h05m` or `2d04h`."""
    if seconds is None:
        return "-"
    seconds = max(0.0, seconds)
    if seconds < 0.9995:
        return "0s" if seconds == 0 else f"{max(1, round(seconds * 1000))}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}s".replace(".0s", "s")
    return _long(round(seconds))


def _long(whole: int) -> str:
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02}m"
    return f"{whole // _DAY}d{whole % _DAY // _HOUR:02}h"
