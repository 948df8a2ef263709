"""Celery's beat as a producer: at its times it enqueues into the job table, under the keys that cron's lines would use.

It needs no broker, keeps no file, and makes up for nothing by itself: a job that is to catch up says so in the plan.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from celery.beat import Scheduler
from celery.schedules import crontab

from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime import producer
from cron2queue.runtime.plan_tables import did_you_mean
from cron2queue.runtime.settings import Settings

log = logging.getLogger("cron2queue.beat")

SCHEDULER: Final = "cron2queue.runtime.celery.beat:TickScheduler"
Schedules = Mapping[str, Sequence[Mapping[str, str]]]


class ZonedCrontab(crontab):  # type: ignore[misc]
    """A crontab() in a zone of its own, whatever the application's is."""

    def __init__(self, *, zone: str, **fields: str) -> None:
        self._zone = ZoneInfo(zone)
        super().__init__(**fields)

    @property
    def tz(self) -> ZoneInfo:
        """The zone that its fields mean."""
        return self._zone


def beat_schedule(schedules: Schedules, settings: Settings, plan: Path, database: str) -> dict[str, Any]:
    """Beat's entries, by job and number. Raises UsageError for a job that the plan has not."""
    entries: dict[str, Any] = {}
    for name, lines in schedules.items():
        if name not in settings.jobs:
            raise UsageError(f"the plan has no job {name!r} for beat", remedy=did_you_mean(name, settings.jobs))
        for number, fields in enumerate(lines, start=1):
            entries[f"{name}-{number}"] = {
                "task": name,
                "schedule": ZonedCrontab(**fields),
                "args": ("--plan", str(plan), "--database", database),
            }
    return entries


class TickScheduler(Scheduler):  # type: ignore[misc]
    """Enqueues ticks instead of sending messages."""

    producer = None  # no connection to the broker is made

    def apply_async(self, entry: Any, producer: Any = None, advance: bool = True, **options: Any) -> None:
        """One tick. What goes wrong is told and costs this tick only, as with a line of cron."""
        entry = self.reserve(entry) if advance else entry
        enqueue(entry.task, entry.args)


def enqueue(name: str, arguments: Sequence[str]) -> bool:
    """Enqueue the tick of this minute; whether that went well."""
    try:
        return producer.main([name, *arguments, "--tick", "--quiet"]) == 0
    except Cron2QueueError as trouble:
        log.error("%s was not enqueued: %s", name, trouble)
    except SystemExit as ended:  # how argparse says that it does not know an option
        log.error("%s was not enqueued: exit status %s", name, ended.code)
    return False
