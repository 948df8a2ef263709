"""Looks at logs given as text, the way the tests need it."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Kind
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.evidence.gathering import gather
from cron2queue.evidence.runs import Run

LOGS = Path(__file__).resolve().parents[1] / "data" / "cron-logs"
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def crontab(text: str, *, kind: Kind = Kind.SYSTEM, path: str = "/etc/crontab", dialect: str = "debian") -> CrontabFile:
    """A crontab as the dialect reads it."""
    return parse(text.encode(), path=path, dialect=dialect_named(dialect), kind=kind)


def look(
    *logs: Path,
    files: Sequence[CrontabFile] = (),
    journal: Path | None = None,
    observations: Path | None = None,
    zone: tzinfo = UTC,
    at: datetime = NOW,
) -> tuple[EvidenceBook, list[Run]]:
    """The book and all runs, in the order of their starts."""
    runs: list[Run] = []
    book = gather(list(logs), journal=journal, observations=observations, files=files, zone=zone, at=at, listen=runs.append)
    return book, sorted(runs, key=lambda run: run.started)


def look_at(folder: Path, text: str | bytes, *, name: str = "syslog", **more: object) -> tuple[EvidenceBook, list[Run]]:
    """The same for one log of this text."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return look(path, **more)  # type: ignore[arg-type]
