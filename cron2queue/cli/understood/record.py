"""What `show` knows of the sources, as one record: the JSON of `show --format json`, and what its screen is drawn from."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from cron2queue.crontab.describe import describe
from cron2queue.crontab.lines import CrontabFile, Entry, Malformed
from cron2queue.crontab.schedule import Fire
from cron2queue.errors import UsageError
from cron2queue.redaction import redact

SCHEMA = 1
MOST_FIRES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which fires are wanted: from `at` (inclusive) to `until` (exclusive), or `count` of them, or both limits."""

    at: datetime
    zone: ZoneInfo
    until: datetime | None
    count: int | None


def fires_of(entry: Entry, asked: Asked) -> list[Fire]:
    """The entry's next starts.

    Raises:
        UsageError: there are more than anybody reads, or a machine holds.
    """
    if asked.until is None:
        return entry.schedule.next_fires(asked.at, asked.zone, asked.count or 0)
    wanted = MOST_FIRES + 1 if asked.count is None else asked.count
    found = list(itertools.islice(entry.schedule.fires_between(asked.at, asked.until, asked.zone), wanted))
    if len(found) > MOST_FIRES:
        remedy = "bring --until nearer to --at, or say with -n how many are wanted"
        raise UsageError(f"line {entry.number} starts more than {MOST_FIRES:,} times in that time", remedy=remedy)
    return found


def record(files: tuple[CrontabFile, ...], asked: Asked) -> dict[str, Any]:
    """The whole answer."""
    return {"schema": SCHEMA, "sources": [_source(file, asked) for file in files]}


def as_text(answer: dict[str, Any]) -> str:
    """Compact for the many fires, one source a line; ASCII only, so that foreign text cannot steer a terminal."""
    sources = ",\n".join(json.dumps(source, ensure_ascii=True) for source in answer["sources"])
    return f'{{"schema": {answer["schema"]}, "sources": [\n{sources}\n]}}'


def _source(file: CrontabFile, asked: Asked) -> dict[str, Any]:
    return {
        "path": file.path,
        "dialect": file.dialect,
        "kind": str(file.kind),
        "loaded": file.loaded,
        "why": file.why,
        "entries": [_entry(entry, asked, loaded=file.loaded) for entry in file.entries],
        "malformed": [_malformed(bad) for bad in file.malformed],
        "counts": file.counts,
        "notes": list(file.notes),
    }


def _entry(entry: Entry, asked: Asked, *, loaded: bool) -> dict[str, Any]:
    # A file that the daemon ignores starts nothing, whatever its lines say.
    fires = fires_of(entry, asked) if loaded else []
    return {
        "line": entry.number,
        "schedule": entry.schedule_text,
        "user": entry.user,
        "command": redact(entry.command),
        "stdin": None if entry.stdin is None else redact(entry.stdin),
        "environment": dict(masked(entry)),
        "description": describe(entry.schedule),
        "never_fires": entry.schedule.never_fires,
        "random": entry.schedule.random,
        "fires": [fire.at.isoformat(timespec="seconds") for fire in fires],
        "nominal": [fire.nominal.isoformat(timespec="minutes") for fire in fires],
    }


def masked(entry: Entry) -> Iterator[tuple[str, str]]:
    """The environment in force, its secrets masked; a name may tell that its value is one."""
    for name, value in entry.environment.items():
        assignment = redact(f"{name}={value}")
        yield name, assignment[len(name) + 1 :] if assignment.startswith(f"{name}=") else redact(value)


def _malformed(bad: Malformed) -> dict[str, Any]:
    return {
        "line": bad.number,
        "column": bad.column,
        "message": redact(bad.message),
        "effect": str(bad.effect),
        "remedy": bad.remedy,
    }
