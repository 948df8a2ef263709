"""A schedule near the old one that a target does keep, offered where the old one itself had to be refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cron2queue.generator.crontab_lines import SCHEDULE, is_moved, moved_line, read_line
from cron2queue.generator.engine import CannotConvert, Engine, Move
from cron2queue.generator.fidelity import SPAN, differences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from zoneinfo import ZoneInfo

NEARBY = (1, -1, 2)
"""Hours later (or earlier) that are tried, nearest first."""


def _nearby(schedule_text: str) -> Iterator[str]:
    """The same schedule one hour later, one earlier, two later; only where it names a single hour."""
    fields = schedule_text.split()
    if len(fields) != 5 or not (fields[1].isascii() and fields[1].isdigit()):
        return
    for shift in NEARBY:
        hour = int(fields[1]) + shift
        if 0 <= hour <= 23:
            yield " ".join([fields[0], str(hour), *fields[2:]])


def as_planned(move: Move) -> Move:
    """The entry at the time that the plan wants, as its own cron reads it. Raises CannotConvert when it does not."""
    if not is_moved(move):
        return move
    entry = read_line(moved_line(move), move)
    if entry is None:
        raise CannotConvert(
            f"{move.job.settings.schedule!r} is not read by {move.file.dialect} cron as a schedule", remedy=SCHEDULE
        )
    return replace(move, entry=replace(entry, number=move.entry.number, raw=move.entry.raw))


def _at(move: Move, schedule_text: str) -> Move | None:
    """The same entry at another time."""
    try:
        return as_planned(replace(move, job=replace(move.job, settings=replace(move.job.settings, schedule=schedule_text))))
    except CannotConvert:
        return None


def rewrite(move: Move, engine: Engine, start: datetime, zone: ZoneInfo) -> str | None:
    """The nearest schedule that the target starts exactly as cron would; None when no nearby one is."""
    end = start + SPAN
    for text in _nearby(move.entry.schedule_text):
        other = _at(move, text)
        if other is None:
            continue
        old = other.entry.schedule.fires_between(start, end, zone)
        if not differences(old, engine.fires(other, start, end, zone), limit=1):
            return text
    return None
