"""When two command lines are the same job, and when two schedules mean the same moments."""

from functools import lru_cache

from cron2queue.analyser.invocations import Invocation, invocations
from cron2queue.crontab.lines import Entry
from cron2queue.crontab.schedule import Calendar, Schedule

_SETTING_OUT = frozenset({"export", "umask", "set", "ulimit"})
# Wrappers that change how, and not what, is run.
_TRANSPARENT_NAMES = """
    flock timeout nice ionice chrt taskset nohup setsid time exec command chronic cronic unbuffer stdbuf systemd-cat
    systemd-inhibit run-one run-this-one setlock lckdo lockf lockrun with-lock-ex cronitor sh bash dash softlimit
"""
_TRANSPARENT = frozenset(_TRANSPARENT_NAMES.split())
_STANDARD_FOLDERS = ("/usr/bin/", "/bin/", "/usr/local/bin/", "/usr/sbin/", "/sbin/")

Essence = tuple[tuple[str, ...], ...]


def _logs_only(target: str) -> bool:
    return target.startswith(("/dev/", "/var/log/")) or target.endswith((".log", ".out", ".err"))


def _one(each: Invocation) -> tuple[str, ...]:
    name = each.program if each.path.startswith(_STANDARD_FOLDERS) else each.path
    around = tuple(word for wrapper in each.wrappers if wrapper.program not in _TRANSPARENT for word in wrapper.words)
    files = tuple(r.target for r in each.simple.redirects if r.operator != ">&" and not _logs_only(r.target))
    settings = tuple(f"{name}={value}" for name, value in each.simple.assignments)
    return (name, *each.words, *around, *files, *settings)


@lru_cache(maxsize=1024)
def essence(command: str) -> Essence:
    """What the line runs on what: programs with their words, folders, files and settings, without locks, limits and logs."""
    found = tuple(
        _one(each)
        for each in invocations(command)
        if each.program not in _SETTING_OUT and not each.simple.substitution and each.words != ("",)
    )
    return found or ((" ".join(command.split()),),)


_EVERYWHERE = frozenset({"PATH", "MAILTO", "SHELL", "HOME", "LOGNAME", "USER", "LANG", "LC_ALL", "MAILFROM", "CONTENT_TYPE"})


def settings(entry: Entry) -> tuple[tuple[str, str], ...]:
    """Variables of the crontab that may make two equal command lines different jobs."""
    return tuple(sorted(item for item in entry.environment.items() if item[0] not in _EVERYWHERE))


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
