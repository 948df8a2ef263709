"""Looks at logs given as text, the way the tests need it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import pytest

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
    """The book and all runs, in the order of their starts; the same book comes of reading whole blocks at once."""
    runs: list[Run] = []

    def book(listen: Callable[[Run], None] | None) -> EvidenceBook:
        return gather(list(logs), journal=journal, observations=observations, files=files, zone=zone, at=at, listen=listen)

    one_by_one = book(runs.append)
    same(book(None), one_by_one)
    return one_by_one, sorted(runs, key=lambda run: run.started)


def same(together: EvidenceBook, one_by_one: EvidenceBook) -> None:
    """Asserts that two books are the same but for the last digits of a trend, whose sums were added up in another order."""
    for entry, evidence in one_by_one.by_entry.items():
        trends = together.by_entry[entry].trend_seconds_per_day, evidence.trend_seconds_per_day
        assert trends[0] == trends[1] or trends[0] == pytest.approx(trends[1], rel=1e-6)
    assert _trendless(together) == _trendless(one_by_one)


def _trendless(book: EvidenceBook) -> EvidenceBook:
    flat = {entry: replace(evidence, trend_seconds_per_day=None) for entry, evidence in book.by_entry.items()}
    return replace(book, by_entry=flat)


def look_at(folder: Path, text: str | bytes, *, name: str = "syslog", **more: object) -> tuple[EvidenceBook, list[Run]]:
    """The same for one log of this text."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return look(path, **more)  # type: ignore[arg-type]
