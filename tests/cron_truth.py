"""The daemons' own answers, recorded from their parsers and main loops under a virtual clock (tests/data/cron-truth)."""

import functools
import gzip
import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import Calendar, ClockRule, Fire

DATA = Path(__file__).parent / "data" / "cron-truth"
MEASURED = ("debian", "cronie", "busybox", "freebsd", "openbsd")
COMMAND = "CMD"


@functools.cache
def load(name: str) -> Any:
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


def answer(by_dialect: dict[str, Any], name: str) -> Any:
    """The answer of a dialect, through `same_as`."""
    found = by_dialect.get(name)
    while found is not None and "same_as" in found:
        found = by_dialect[found["same_as"]]
    return found


def vectors() -> list[dict[str, Any]]:
    return load("vectors")["vectors"]


def windows() -> dict[str, dict[str, Any]]:
    return load("vectors")["head"]["windows"]


@functools.lru_cache(maxsize=4096)
def read_line(expression: str, dialect: str) -> CrontabFile:
    """The expression with a command, as root's own crontab."""
    data = f"{expression} {COMMAND}\n".encode()
    return parse(data, path="vector", dialect=dialect_named(dialect), kind=Kind.USER, user="root")


@functools.lru_cache(maxsize=4096)
def _year(schedule: Calendar, year: int) -> tuple[int, str]:
    begin = datetime(year, 1, 1, tzinfo=UTC)
    fires = schedule.fires_between(begin, datetime(year + 1, 1, 1, tzinfo=UTC), ZoneInfo("UTC"))
    texts = [fire.nominal.isoformat(timespec="minutes") for fire in fires]
    return len(texts), digest(texts)


def year_of(schedule: Calendar, year: int) -> tuple[int, str]:
    """How often it fires in that year without clock changes, and the digest of the minutes.

    What only names the fields (stars, the clock rule) is left out, so that equal sets are counted once.
    """
    return _year(replace(schedule, minute_star=False, hour_star=False, clock_rule=ClockRule.DEBIAN), year)


def digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def offset_text(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")


def fire_text(fire: Fire) -> str:
    """`AT`, or `AT for NOMINAL` when the fire stands for another wall minute."""
    at = offset_text(fire.at)
    nominal = fire.nominal.isoformat(timespec="minutes")
    return at if at[:16] == nominal else f"{at} for {nominal}"


def values(text: str) -> int:
    """Bits of `0-5,7,9-11`."""
    bits = 0
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        bits |= (1 << int(last or first) + 1) - (1 << int(first))
    return bits


def window(name: str) -> tuple[datetime, datetime, ZoneInfo]:
    facts = windows()[name]
    zone = ZoneInfo(facts["tz"])
    begin, end = (datetime.fromisoformat(text).astimezone(UTC) for text in facts["window"])
    return begin, end, zone
