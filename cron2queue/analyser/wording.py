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
        return "an odd day" if days == list(range(1, 32, 2)) else f"one of {len(days)} days of the month"
    return f"the {listed([ordinal(day) for day in days], last='or')}"


def days_of_week(bits: int) -> str | None:
    """Days of the week of a bit set, Sunday being 0 or 7; None when it is empty or holds all."""
    days = [name for number, name in enumerate(WEEKDAYS) if bits >> number & 1 or (number == 0 and bits >> 7 & 1)]
    return None if not days or len(days) == 7 else listed(days, last="or")


def count(number: int, noun: str) -> str:
    """`1 entry`, `2 entries`, `1,200 starts`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural}"
