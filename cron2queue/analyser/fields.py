"""The five schedule fields as they are written: for rules about what a person meant, never for when cron fires."""

from functools import lru_cache

from cron2queue.expressions import regex

NAMES = ("minute", "hour", "day of month", "month", "day of week")
_LEAST = (0, 0, 1, 1, 0)
_MOST = (59, 23, 31, 12, 7)
_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_DAY_NAMES = "sun mon tue wed thu fri sat"
_NUMBER_OF = {name: at + 1 for at, name in enumerate(_MONTH_NAMES.split())} | {
    name: at for at, name in enumerate(_DAY_NAMES.split())
}
_RANGE = regex(r"([0-9a-zA-Z]+)-([0-9a-zA-Z]+)(?:/(\d+))?")
_STEP = regex(r"(\*|\d+-\d+)/(\d+)")


def five_fields(schedule_text: str) -> tuple[str, ...] | None:
    """The five fields, or None for @names and anything else."""
    fields = tuple(schedule_text.split())
    return fields if len(fields) == 5 and not schedule_text.startswith("@") else None


def value(text: str) -> int | None:
    """A number or a three-letter name; None for anything else."""
    return int(text) if text.isdigit() and len(text) < 4 else _NUMBER_OF.get(text.lower())


@lru_cache(maxsize=4096)
def reversed_ranges(schedule_text: str) -> tuple[tuple[int, str], ...]:
    """Ranges that run backwards (`22-4`, `fri-mon`), each with the index of its field."""
    found = []
    for index, field in enumerate(five_fields(schedule_text) or ()):
        for part in field.split(","):
            match = _RANGE.fullmatch(part)
            low, high = (value(match[1]), value(match[2])) if match else (None, None)
            if low is not None and high is not None and low > high:
                found.append((index, part))
    return tuple(found)


@lru_cache(maxsize=4096)
def steps(schedule_text: str) -> tuple[tuple[int, str, int, int, int], ...]:
    """Every step as (index of its field, text, low end, high end, step)."""
    found = []
    for index, field in enumerate(five_fields(schedule_text) or ()):
        for part in field.split(","):
            match = _STEP.fullmatch(part)
            if match:
                low, high = (_LEAST[index], min(_MOST[index], 6 if index == 4 else 99)) if match[1] == "*" else _ends(match[1])
                found.append((index, part, low, high, int(match[2][:6])))
    return tuple(found)


def _ends(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low[:6]), int(high[:6])
