"""SQLite: WAL with synchronous=FULL (what is acknowledged is on disk), writers begin IMMEDIATE."""

from __future__ import annotations

import os
import sqlite3
import time

from cron2queue.errors import DatabaseUnavailable, UsageError
from cron2queue.runtime.database.driver import Driver, Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

_MEANINGS = {
    "SQLITE_BUSY": Failure.AGAIN,
    "SQLITE_LOCKED": Failure.AGAIN,
    "SQLITE_PROTOCOL": Failure.AGAIN,
    "SQLITE_FULL": Failure.REFUSING,
    "SQLITE_READONLY": Failure.REFUSING,
    "SQLITE_IOERR": Failure.REFUSING,
    "SQLITE_CANTOPEN": Failure.REFUSING,
    "SQLITE_PERM": Failure.REFUSING,
}


class SqliteDriver(Driver):
    """The file is made if its folder exists. A busy lock is waited for in short, jittered steps by the unit of work:
    SQLite's own handler sleeps up to 100 ms while another process takes the lock again and again.
    """

    family: ClassVar[str] = "sqlite"
    placeholder: ClassVar[str] = "?"
    now: ClassVar[str] = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000000) AS INTEGER)"

    def connect(self) -> sqlite3.Connection:
        """WAL, FULL, foreign text decoded without ever failing."""
        file = self.address.database
        if not file:
            raise UsageError("jobs in memory would be lost", remedy="name a file: sqlite:///jobs.db")
        if not self.exists():
            raise DatabaseUnavailable(f"there is no file {file}", remedy="if it is to be made, run: cron2queue migrate up")
        try:
            raw = sqlite3.connect(
                file, timeout=0.02, isolation_level=None, check_same_thread=False, cached_statements=256, factory=_Connection
            )
            raw.text_factory = _lossless
            raw.place = _place(file)
            self._promise(raw)
        except sqlite3.Error as error:
            raise DatabaseUnavailable(
                f"the SQLite file {file} cannot be used: {error}",
                remedy="check that its folder exists, is on a local disk, has room and may be written by this user",
            ) from error
        return raw

    def exists(self) -> bool:
        """Whether the file is there."""
        return os.path.exists(self.address.database)

    def create(self) -> bool:
        """Make an empty file, which SQLite takes for an empty database."""
        if self.exists():
            return False
        try:
            os.close(os.open(self.address.database, os.O_CREAT | os.O_CLOEXEC | os.O_RDWR, 0o660))
        except OSError as error:
            raise DatabaseUnavailable(
                f"the SQLite file {self.address.database} cannot be made: {error.strerror}",
                remedy="check that its folder exists and may be written by this user",
            ) from error
        return True

    def is_replaced(self, raw: sqlite3.Connection) -> bool:
        """A deleted file lives on behind its open descriptors: what is written there is lost with the last of them."""
        return isinstance(raw, _Connection) and raw.place != _place(self.address.database)

    def _promise(self, raw: sqlite3.Connection) -> None:
        raw.execute("PRAGMA busy_timeout=5000")
        if self.address.options.get("synchronous", "full").lower() == "normal":
            raw.execute("PRAGMA synchronous=NORMAL")  # asked for in the URL: a power cut may lose the last acknowledged jobs
        else:
            raw.execute("PRAGMA synchronous=FULL")
        _to_wal(raw)
        raw.execute("PRAGMA busy_timeout=20")

    def begin(self, raw: sqlite3.Connection) -> None:
        """IMMEDIATE: a deferred transaction that has read before it writes fails at once, whatever the timeout."""
        raw.execute("BEGIN IMMEDIATE")

    def join(self, raw: sqlite3.Connection) -> bool:
        """Python begins at the first INSERT only: a savepoint before it would be a transaction of its own, and commit."""
        if raw.in_transaction:
            return False
        self.begin(raw)
        return raw.isolation_level is None

    def commit(self, raw: sqlite3.Connection) -> None:
        """COMMIT, if a transaction is open."""
        if raw.in_transaction:
            raw.execute("COMMIT")

    def rollback(self, raw: sqlite3.Connection) -> None:
        """SQLite has rolled back by itself after a full disk; a second ROLLBACK would be an error."""
        if raw.in_transaction:
            raw.execute("ROLLBACK")

    def cursor(self, raw: sqlite3.Connection) -> sqlite3.Cursor:
        """Rows as tuples even where the owner has set a row factory."""
        cursor = raw.cursor()
        cursor.row_factory = None
        return cursor

    def code_of(self, error: BaseException) -> Failure:
        """By SQLite's own error name; the extended ones begin with it."""
        if isinstance(error, sqlite3.IntegrityError):
            name = error.sqlite_errorname
            return Failure.DUPLICATE if name in ("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY") else Failure.OTHER
        name = getattr(error, "sqlite_errorname", "")
        return _MEANINGS.get("_".join(name.split("_")[:2]), Failure.OTHER)

    def server(self, raw: Any) -> tuple[str, str]:
        """The library's version."""
        return "sqlite", sqlite3.sqlite_version


class _Connection(sqlite3.Connection):
    """A connection that knows which file it has opened."""

    place: tuple[int, int] | None = None


def _to_wal(raw: sqlite3.Connection) -> None:
    """Whoever opens a new file first must be alone to make it WAL; SQLite's own patience does not cover that."""
    deadline = time.monotonic() + 5
    while True:
        try:
            raw.execute("PRAGMA journal_mode=WAL").fetchall()
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _place(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116 - before every unit of work
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lossless(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
