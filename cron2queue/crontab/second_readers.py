"""What croniter and python-crontab make of an entry. They are asked, never believed: the daemon's own rules decide.

Both are imported when asked for; both differ from real daemons in several ways, and python-crontab rewrites lines when
it saves a file, which is why an entry that it reads differently is worth a word.
"""

import contextlib
import io
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from cron2queue.crontab.lines import Entry
from cron2queue.crontab.schedule import AtReboot, Calendar, Interval

SAME = "same"
REJECTS = "rejects"
_COMPARED = 60
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_LONGEST_TEXT = 400


def second_readings(entry: Entry) -> list[tuple[str, str]]:
    """For each tool: `same`, `rejects`, `differs: ...` (another time) or `would rewrite as ...` (another line)."""
    readers: tuple[tuple[str, Callable[[Entry], str]], ...] = (("croniter", _croniter), ("python-crontab", _python_crontab))
    if len(entry.schedule_text) > _LONGEST_TEXT or isinstance(entry.schedule, Interval):
        return [(name, REJECTS) for name, _ in readers]
    return [(name, reader(entry)) for name, reader in readers]


def _fires(schedule: Calendar) -> list[str]:
    found = schedule.next_fires(_BEGIN, UTC, _COMPARED)
    return [fire.nominal.isoformat(sep=" ", timespec="minutes") for fire in found]


def _difference(daemon: list[str], tool: list[str]) -> str:
    """`same`, or the first fire that only one of them has."""
    for ours, theirs in zip(daemon, tool, strict=False):
        if ours != theirs:
            return f"differs: {theirs} where the daemon starts it at {ours}"
    if len(daemon) == len(tool):
        return SAME
    if not daemon:
        return f"differs: {tool[0]} where the daemon never starts it"
    return f"differs: ends where the daemon starts it at {daemon[len(tool)]}" if len(daemon) > len(tool) else SAME


def _croniter(entry: Entry) -> str:
    from croniter import croniter
    from croniter.croniter import CroniterError

    if isinstance(entry.schedule, AtReboot):
        return REJECTS
    assert isinstance(entry.schedule, Calendar)
    naive = _BEGIN.replace(tzinfo=None)
    try:
        every = croniter(entry.schedule_text, naive, max_years_between_matches=9)
        first = [naive] if croniter.match(entry.schedule_text, naive) else []
        found = [*first, *_until_error(every, _COMPARED)]
    except (CroniterError, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError):
        return REJECTS
    texts = [moment.isoformat(sep=" ", timespec="minutes") for moment in found[:_COMPARED]]
    return _difference(_fires(entry.schedule), texts)


def _until_error(every: Any, count: int) -> list[datetime]:
    """Its next fires; none any more is told by it as an error."""
    from croniter.croniter import CroniterBadDateError

    found: list[datetime] = []
    with contextlib.suppress(CroniterBadDateError):
        found.extend(islice(every.all_next(datetime), count))
    return found


def _python_crontab(entry: Entry) -> str:
    from crontab import CronTab

    line = entry.raw.decode("utf-8", "replace")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            table = CronTab(tab=line, user=False if entry.user and _names_user(entry) else None)
            jobs = list(table)
            written = str(jobs[0]) if jobs else ""
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError):
        return REJECTS
    if not jobs or not jobs[0].is_valid() or not jobs[0].is_enabled():
        return REJECTS
    before = " ".join(line.split())
    return SAME if " ".join(written.split()) == before else f"would rewrite as {written.strip()}"


def _names_user(entry: Entry) -> bool:
    """Whether the line itself has the user's column."""
    before = entry.raw.decode("utf-8", "replace")[: max(0, entry.command_column - 1)].split()
    return bool(before) and before[-1].split(":")[0].split("/")[0] == entry.user and len(before) > len(entry.fields)
