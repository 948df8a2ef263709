"""How often an entry runs, in words that are true of each of its days."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from cron2queue.analyser.timing import HOUR, runs_per_day, shortest_gap
from cron2queue.analyser.wording import count, ordinals
from cron2queue.crontab.schedule import Calendar
from cron2queue.durations import duration

if TYPE_CHECKING:
    from cron2queue.crontab.lines import Entry

# The share of the days that counts as all of them.
_NEARLY_ALL = 0.9
_DAYS_IN_MONTH, _DAYS_IN_YEAR = 30.44, 365.25


def rhythm(entry: Entry) -> str:
    """`runs every 5m, 5 days a week`, `runs 2 times a day`, `runs once a month`, `runs once a day, in 6 months a year`."""
    gap, daily = shortest_gap(entry), runs_per_day(entry)
    if not isinstance(entry.schedule, Calendar) or not daily:
        return f"runs every {duration(gap)}" if gap else "runs once"
    return _of_calendar(entry.schedule, gap, daily)


@lru_cache(maxsize=16384)
def _of_calendar(calendar: Calendar, gap: float | None, daily: float) -> str:
    if daily * _DAYS_IN_YEAR < _NEARLY_ALL:
        return "runs less than once a year"
    times, months = calendar.minutes.bit_count() * calendar.hours.bit_count(), calendar.months.bit_count()
    number, unit = _days(daily / times * 12 / months, by_week=ordinals(calendar.days) is None)
    if (times, number, unit, months) == (1, 1, "month", 1):
        return "runs once a year"
    words = [_on_each_day(times, gap) if times > 1 else _times(number, unit)]
    words += [f"{count(number, 'day')} a {unit}"] if times > 1 and unit != "day" else []
    words += [f"in {count(months, 'month')} a year"] if months < 12 else []
    return ", ".join(words)


def _on_each_day(times: int, gap: float | None) -> str:
    return f"runs every {duration(gap)}" if gap and times * gap > 20 * HOUR else f"runs {times:,} times a day"


def _days(share: float, *, by_week: bool) -> tuple[int, str]:
    """On how many days of what: each day, days of the week where these alone are named, else days of the month."""
    if share > _NEARLY_ALL:
        return 1, "day"
    return (round(share * 7), "week") if by_week else (max(1, round(share * _DAYS_IN_MONTH)), "month")


def _times(number: int, unit: str) -> str:
    return f"runs once a {unit}" if number == 1 else f"runs {number} times a {unit}"
