"""Sets of days and counts in words."""

from collections.abc import Sequence

_DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday"
WEEKDAYS = tuple(_DAYS.split())


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def listed(words: Sequence[str], *, last: str = "and") -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def ordinals(bits: int) -> str | None:
    """Days of the month of a bit set; None when it is empty or holds all."""
    days = [day for day in range(1, 32) if bits >> day & 1]
    if not days or len(days) == 31:
        return None
    if len(days) > 6:
        if days == list(range(days[0], days[-1] + 1)):
            return f"the {ordinal(days[0])} to {ordinal(days[-1])}"
        if days in (list(range(1, 32, 2)), list(range(2, 32, 2))):
            return "an odd day" if days[0] == 1 else "an even day"
        return f"one of {len(days)} days of the month"
    return f"the {listed([ordinal(day) for day in days], last='or')}"


def days_of_week(bits: int) -> str | None:
    """Days of the week of a bit set, Sunday being 0 or 7; None when it is empty or holds all."""
    days = [name for number, name in enumerate(WEEKDAYS) if bits >> number & 1 or (number == 0 and bits >> 7 & 1)]
    return None if not days or len(days) == 7 else listed(days, last="or")


def count(number: int, noun: str) -> str:
    """`1 entry`, `2 entries`, `1,200 starts`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{number:,} {plural}"


_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_MONTH_NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_MONTHS = tuple(_MONTH_NAMES.split())
_NOUNS = ("minute", "hour", "day", "month", "day")


def values(index: int, bits: int) -> str:
    """What a field's set names: `every minute`, `minute 0`, `Friday`, `Jan and Jun`; index 0 is the minute, 4 the weekday."""
    low, high = _RANGES[index]
    bits = (bits | bits >> 7) & 0x7F if index == 4 else bits
    named = [value for value in range(low, high + 1) if bits >> value & 1]
    if len(named) == high - low + 1:
        return f"every {_NOUNS[index]}"
    if not named:
        return f"no {_NOUNS[index]}"
    if index == 3:
        return listed([_MONTHS[value - 1] for value in named])
    if index == 4:
        return listed([WEEKDAYS[value] for value in named])
    words = [str(value) for value in named]
    shown = listed(words) if len(words) <= 4 else f"{', '.join(words[:3])} ... {words[-1]}"
    return f"{_NOUNS[index]} {shown}"
