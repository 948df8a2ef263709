"""Durations in the words that every report, screen, alert and message uses."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_EXACT = 0.001


def duration(seconds: float | None, *, resolution: float = _EXACT) -> str:
    """`420ms`, `12.3s`, `6m12s`, `5m`, `1h05m`, `2d03h`; `-` where it is not known.

    `resolution`: so finely it is known, in seconds; what is below that is `<1s` (or `<1ms`), and of 1 or more no parts of a
    second are told.
    """
    if seconds is None:
        return "-"
    seconds, finest = max(0.0, seconds), max(_EXACT, resolution)
    if seconds < min(1.0, finest) and (seconds or finest >= 1):
        return "<1s" if finest >= 1 else f"<{round(finest * 1000)}ms"
    if seconds >= 59.95 or finest >= 1:
        return _long(round(seconds))
    if seconds >= 0.9995:
        return f"{seconds:.1f}s".replace(".0s", "s")
    return f"{round(seconds * 1000)}ms" if seconds else "0s"


def _long(whole: int) -> str:
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return _parts(whole // _MINUTE, "m", whole % _MINUTE, "s")
    if whole < _DAY:
        return _parts(whole // _HOUR, "h", whole % _HOUR // _MINUTE, "m")
    return _parts(whole // _DAY, "d", whole % _DAY // _HOUR, "h")


def _parts(large: int, unit: str, small: int, below: str) -> str:
    return f"{large}{unit}{small:02}{below}" if small else f"{large}{unit}"
