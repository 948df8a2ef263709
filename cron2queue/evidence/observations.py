"""The file that observed runs are written to and read from: a small SQLite database, used by many processes at once.

Lean: only the standard library, since it stands in the way of every observed command. Commands are stored with their
secrets masked, and a digest of the whole text, by which they are found again.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
