"""The file that observed runs are written to and read from: a small SQLite database, used by many processes at once.

Lean: only the standard library, since it stands in the way of every observed command. Commands are stored with their
secrets masked, and a digest of the whole text, by which they are found again.
"""

import hashlib
import heapq
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cron2queue.evidence.ledger import Ledger

VERSION = 1
_KEPT_SECONDS = 100 * 86_400
_SCHEMA = """
CREATE TABLE IF NOT EXISTS observation (
    id TEXT PRIMARY KEY, entry TEXT, host TEXT NOT NULL, account TEXT NOT NULL, command TEXT NOT NULL,
    digest TEXT NOT NULL, started REAL NOT NULL, ended REAL, exit_status INTEGER, signal INTEGER,
    user_seconds REAL, system_seconds REAL, max_rss_bytes INTEGER,
    stdout_bytes INTEGER, stdout_lines INTEGER, stderr_bytes INTEGER, stderr_lines INTEGER,
    read_bytes INTEGER, written_bytes INTEGER, nothing_to_do INTEGER
);
CREATE INDEX IF NOT EXISTS observation_started ON observation (started);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One observed run; times in seconds since 1970, None for what is not known (yet)."""

    id: str
    entry: str | None
    host: str
    account: str
    command: str
    digest: str
    started: float
    ended: float | None = None
    exit_status: int | None = None
    signal: int | None = None
    user_seconds: float | None = None
    system_seconds: float | None = None
    max_rss_bytes: int | None = None
    stdout_bytes: int | None = None
    stdout_lines: int | None = None
    stderr_bytes: int | None = None
    stderr_lines: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    nothing_to_do: bool | None = None


COLUMNS = tuple(Observation.__dataclass_fields__)


def digest_of(command: str) -> str:
    """By which a command is found again without being stored."""
    return hashlib.sha256(command.strip(" ").encode("utf-8", "surrogateescape")).hexdigest()[:20]


def default_path() -> Path:
    """$XDG_STATE_HOME/cron2queue/observations.db, or below ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    return Path(state) / "cron2queue" / "observations.db"


def write(path: Path, observation: Observation, *, patience: float) -> None:
    """Insert or complete one observation; raises sqlite3.Error or OSError after `patience` seconds at most."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            _prepare(connection)
        values = tuple(getattr(observation, column) for column in COLUMNS)
        marks = ", ".join("?" * len(COLUMNS))
        connection.execute(f"INSERT OR REPLACE INTO observation ({', '.join(COLUMNS)}) VALUES ({marks})", values)
        connection.execute("DELETE FROM observation WHERE started < ?", (observation.started - _KEPT_SECONDS,))
    finally:
        connection.close()


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")


def read(path: Path) -> Iterator[Observation]:
    """All observations in the order of their starts; raises sqlite3.Error for what is not such a file."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
    try:
        for row in connection.execute(f"SELECT {', '.join(COLUMNS)} FROM observation ORDER BY started"):
            yield Observation(**dict(zip(COLUMNS, row, strict=True)))
    finally:
        connection.close()


def recorded(path: Path | None, ledger: "Ledger", skipped: list[str]) -> None:
    """Tells the ledger of all observed runs; what cannot be read is named in `skipped`."""
    if path is None:
        return
    pending: list[tuple[float, int, Any, Observation]] = []
    try:
        for number, each in enumerate(read(path)):
            while pending and pending[0][0] <= each.started:
                _end(ledger, heapq.heappop(pending))
            start = _start(ledger, each, number)
            if each.ended is None:
                ledger.cut(start)
            else:
                heapq.heappush(pending, (each.ended, number, start, each))
    except (sqlite3.Error, OSError, TypeError, ValueError) as wrong:
        skipped.append(f"{path}: no recording of cron2queue observe ({wrong})")
    while pending:
        _end(ledger, heapq.heappop(pending))


def _start(ledger: "Ledger", each: Observation, number: int) -> Any:
    from cron2queue.evidence.log_format import Subject
    from cron2queue.evidence.pairing import Started

    hint = f"digest:{each.digest}" if ledger.stranger(each.entry) else each.entry
    start = Started(each.started, Subject(each.account, each.command, hint=hint), "observed", 0, 0, number)
    ledger.reports("output", "observed")
    ledger.reports("failures", "observed")
    ledger.started(start)
    return start


def _end(ledger: "Ledger", due: tuple[float, int, Any, Observation]) -> None:
    from cron2queue.evidence.log_format import Ending
    from cron2queue.evidence.runs import Pairing

    ended, _, start, each = due
    known = each.stdout_bytes is not None or each.stderr_bytes is not None
    cpu = None if each.user_seconds is None else each.user_seconds + (each.system_seconds or 0.0)
    ending = Ending(
        exit_status=each.exit_status,
        signal=each.signal,
        output=bool((each.stdout_bytes or 0) + (each.stderr_bytes or 0)) if known else None,
        cpu_seconds=cpu,
        max_rss_bytes=each.max_rss_bytes,
        nothing_to_do=None if each.nothing_to_do is None else bool(each.nothing_to_do),
    )
    ledger.ended(start, ended, ending, Pairing.EXACT)
