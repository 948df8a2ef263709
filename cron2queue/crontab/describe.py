"""A schedule in words, from its evaluated sets and never from its text: what the daemon made of it is what is said."""

import itertools
from typing import assert_never

from cron2queue.crontab.days import DayRule, names_a_day, set_bits, weekday_bits
from cron2queue.crontab.schedule import AtReboot, Calendar, Interval, Schedule

_MONTHS = (
    "", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_ALL_MINUTES, _ALL_HOURS, _ALL_DATES, _ALL_MONTHS, _ALL_WEEKDAYS = (1 << 60) - 1, (1 << 24) - 1, 0xFFFFFFFE, 0x1FFE, 0x7F
_ODD_DATES = 0xAAAAAAAA
# More times of the day than these are not listed one by one.
_MOST_TIMES = 6


def describe(schedule: Schedule) -> str:
    """One phrase, without a full stop."""
    match schedule:
        case Calendar():
            return _calendar(schedule)
        case AtReboot():
            return "once at boot"
        case Interval(seconds=seconds):
            return f"{_count(seconds, 'second')} after the last run ended"
        case _:
            assert_never(schedule)


def _calendar(schedule: Calendar) -> str:
    if schedule.never_fires:
        return f"never: {_why_never(schedule)}"
    named = " ".join(filter(None, (_times(schedule), _days(schedule), _months(schedule.months))))
    drawn = f", drawn at each load of the crontab from {_drawn(schedule)}" if schedule.random else ""
    zone = f", {schedule.zone} time" if schedule.zone else ""
    return f"{named}{drawn}{zone}"


def _why_never(schedule: Calendar) -> str:
    for bits, name in ((schedule.minutes, "minute"), (schedule.hours, "hour"), (schedule.months >> 1, "month")):
        if not bits:
            return f"no {name} is left"
    any_weekday = names_a_day(DayRule(schedule.days, schedule.months, _ALL_WEEKDAYS))
    if any_weekday:
        return "no day of the week is left"
    return "no day of the month is left" if not schedule.days >> 1 else "no such date exists"


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _span(bits: int) -> tuple[int, int] | None:
    """First and last of a set without holes, of three values or more."""
    low = (bits & -bits).bit_length() - 1
    run = bits >> low
    return (low, bits.bit_length() - 1) if run & (run + 1) == 0 and run.bit_count() > 2 else None


def _even(bits: int, size: int) -> int | None:
    """The step of a set that goes evenly round a field of `size`, from below the step on; else None."""
    values = list(set_bits(bits))
    if len(values) < 2 or size % len(values):
        return None
    step = size // len(values)
    return step if values[0] < step and all(b - a == step for a, b in itertools.pairwise(values)) else None


def _times(schedule: Calendar) -> str:
    minutes, hours = schedule.minutes, schedule.hours
    if hours.bit_count() * minutes.bit_count() <= _MOST_TIMES and hours != _ALL_HOURS:
        return f"at {_and([f'{hour:02}:{minute:02}' for hour in set_bits(hours) for minute in set_bits(minutes)])}"
    return _minutes(minutes, hours) + _hours(minutes, hours)


def _minutes(minutes: int, hours: int) -> str:
    values = list(set_bits(minutes))
    if minutes == _ALL_MINUTES:
        return "every minute"
    if len(values) == 1:
        step = _even(hours, 24) or 0
        if hours == _ALL_HOURS:
            return f"every hour at minute {values[0]}"
        return f"every {step} hours at minute {values[0]}" if step else f"at minute {values[0]}"
    step = _even(minutes, 60) or 0
    if step:
        return f"every {step} minutes" + (f" from minute {values[0]}" if values[0] else "")
    span = _span(minutes)
    return f"every minute from {span[0]} to {span[1]}" if span else f"at minutes {_and([str(value) for value in values])}"


def _hours(minutes: int, hours: int) -> str:
    if hours == _ALL_HOURS:
        even = minutes == _ALL_MINUTES or minutes.bit_count() == 1 or _even(minutes, 60)
        return "" if even else " of every hour"
    values = list(set_bits(hours))
    step = _even(hours, 24)
    if minutes.bit_count() == 1 and step:
        return f" from {values[0]:02}:{minutes.bit_length() - 1:02} on" if values[0] else ""
    span = _span(hours)
    if span:
        return (
            f" from {span[0]:02}:00 to {span[1]:02}:59" if minutes.bit_count() > 1 else f" of the hours {span[0]} to {span[1]}"
        )
    if len(values) == 1:
        return f" from {values[0]:02}:00 to {values[0]:02}:59"
    return f" of the hours {_and([str(value) for value in values])}"


def _days(schedule: Calendar) -> str:
    weekdays, dates = weekday_bits(schedule.weekdays), schedule.days & _ALL_DATES
    all_weekdays, all_dates = weekdays == _ALL_WEEKDAYS, dates == _ALL_DATES
    by_week = _on_weekdays(weekdays) if weekdays else ""
    by_date = (_from_end(dates) if schedule.days_from_end else _on_dates(dates)) if dates else ""
    if schedule.either_day:
        if all_weekdays or all_dates:
            return _every_day(schedule)
        return f"{by_date}, and also {by_week}" if by_date and by_week else by_date or by_week
    if all_weekdays:
        return _every_day(schedule) if all_dates else by_date
    return by_week if all_dates else f"{by_date} if {_is_weekday(weekdays)}"


def _every_day(schedule: Calendar) -> str:
    return "" if schedule.hours == _ALL_HOURS or schedule.minute_bits.bit_count() > _MOST_TIMES else "every day"


def _weekday_names(weekdays: int) -> list[str]:
    return [_DAYS[day % 7] for day in (*range(1, 7), 0) if weekdays >> day & 1]


def _on_weekdays(weekdays: int) -> str:
    span = _span(weekdays)
    if span:
        return f"from {_DAYS[span[0]]} to {_DAYS[span[1]]}"
    return f"on {_and([f'{name}s' for name in _weekday_names(weekdays)])}"


def _is_weekday(weekdays: int) -> str:
    return f"it is a {_and(_weekday_names(weekdays)).replace(' and ', ' or ')}"


def _ordinal(day: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th") if day not in (11, 12, 13) else "th"
    return f"{day}{ending}"


def _from_end(dates: int) -> str:
    last = dates.bit_length() - 1
    return "on the last day of the month" if last == 1 else f"in the last {last} days of the month"


def _on_dates(dates: int) -> str:
    span = _span(dates)
    if span:
        return f"from the {_ordinal(span[0])} to the {_ordinal(span[1])} of the month"
    for bits, name in ((_ODD_DATES, "odd"), (_ALL_DATES & ~_ODD_DATES, "even")):
        if dates == bits:
            return f"on {name} days of the month"
    return f"on the {_and([_ordinal(day) for day in set_bits(dates)])} of the month"


def _months(months: int) -> str:
    if months & _ALL_MONTHS == _ALL_MONTHS:
        return ""
    span = _span(months)
    if span:
        return f"from {_MONTHS[span[0]]} to {_MONTHS[span[1]]}"
    return f"in {_and([_MONTHS[month] for month in set_bits(months)])}"


def _drawn(schedule: Calendar) -> str:
    names = ("minutes", "hours", "days", "months", "days of the week")
    drawn = []
    for name, bits, now in zip(names, schedule.possible or (), _sets(schedule), strict=True):
        if bits != now:
            bits &= ~1 if name == names[-1] and bits >> 7 & 1 else ~0  # Sunday once, as the last day
            span = _span(bits)
            drawn.append(f"{name} {span[0]} to {span[1]}" if span else f"{name} {_and([str(v) for v in set_bits(bits)])}")
    return _and(drawn) if drawn else "one value"


def _sets(schedule: Calendar) -> tuple[int, int, int, int, int]:
    return schedule.minutes, schedule.hours, schedule.days, schedule.months, schedule.weekdays
