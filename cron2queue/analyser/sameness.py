"""When two command lines are the same job, and when two schedules mean the same moments."""

from functools import lru_cache

from cron2queue.analyser.invocations import invocations
from cron2queue.crontab.schedule import Calendar, Schedule

_SETTING_OUT = frozenset({"cd", "export", "umask", "sleep", "set", "ulimit"})


@lru_cache(maxsize=8192)
def essence(command: str) -> tuple[tuple[str, ...], ...]:
    """What the line runs, without wrappers, redirects and preparation: programs with their words, interpreters by base name."""
    found = []
    for each in invocations(command):
        if each.program not in _SETTING_OUT and not each.simple.substitution:
            name = (
                each.program
                if each.path.startswith(("/usr/bin/", "/bin/", "/usr/local/bin/", "/usr/sbin/", "/sbin/"))
                else each.path
            )
            found.append((name, *each.words))
    if not found:
        return ((" ".join(command.split()),),)
    folder = tuple(each.words[:1] for each in invocations(command) if each.program == "cd")
    return (*folder, *found)


def meaning(schedule: Schedule) -> Schedule | tuple[object, ...]:
    """Equal for schedules that name the same moments, however they are written."""
    if not isinstance(schedule, Calendar):
        return schedule
    return (schedule.minutes, schedule.hours, _days(schedule), schedule.wildcard, schedule.zone, schedule.random)


def _days(schedule: Calendar) -> tuple[int, int, int, bool]:
    weekdays = (schedule.weekdays | schedule.weekdays >> 7) & 0x7F
    days = schedule.days & 0xFFFFFFFE
    every_day, every_weekday = days == 0xFFFFFFFE, weekdays == 0x7F
    if schedule.either_day and (every_day or every_weekday):
        return 0xFFFFFFFE, schedule.months, 0x7F, False
    either = schedule.either_day and not (every_day or every_weekday)
    return days, schedule.months, weekdays, either
