"""Named locks of a database, each on a connection of its own that is kept for as long as the lock is held.

The lock lives and dies with the connection, so the connection is asked again and again whether it still has it: a
server that was restarted has forgotten it, and then the command must not go on unlocked.
"""

import os
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any

from cron2queue.runtime.database.address import Address, parse
from cron2queue.runtime.database.driver import Driver
from cron2queue.runtime.desk import driver_for
from cron2queue.runtime.locks import locking
from cron2queue.runtime.locks.locking import HeldFile, LockHeld, LockTrouble

_SLICE_SECONDS = 5  # a wait is cut into slices, so that read time-outs of the connection stay out of it


class HeldLock(ABC):
    """A lock of a database that this process holds."""

    @abstractmethod
    def is_held(self) -> bool:
        """Ask the server; False when the lock or the connection is gone."""

    @abstractmethod
    def release(self) -> None:
        """Let go."""


class _Connected(HeldLock):
    """Base of those that are held by a connection."""

    def __init__(self, driver: Driver, raw: Any, name: str) -> None:
        self.driver = driver
        self.raw = raw
        self.name = name

    def ask(self, query: str, *parameters: Any) -> Any:
        """One value; trouble with the server is LockTrouble."""
        try:
            cursor = self.driver.cursor(self.raw)
            cursor.execute(query, parameters)
            row = cursor.fetchone()
            return row[0] if row else None
        except Exception as error:
            if not self.driver.is_own(error):
                raise
            remedy = "look whether the database runs, then try again"
            raise LockTrouble(f"the database gave no answer about the lock {self.name}", remedy=remedy) from error

    @abstractmethod
    def take(self, seconds: int) -> bool:
        """Take it within so many seconds; False when another has it. Raises LockTrouble when nobody knows."""

    @abstractmethod
    def let_go(self) -> None:
        """Ask the server to free it."""

    def release(self) -> None:
        """Free it and wait for the answer: of a closed connection the server hears later, when the next run may be asking.

        Closing frees it, too, whatever state the connection is in.
        """
        with suppress(LockTrouble):
            self.let_go()
        try:
            self.driver.close(self.raw)
        except Exception as error:
            if not self.driver.is_own(error):
                raise


class MysqlLock(_Connected):
    """GET_LOCK: 1 is got, 0 is held by another, NULL is an error (killed, out of memory), and never a lock."""

    def take(self, seconds: int) -> bool:
        """See the base. Whoever stops this process for a while (SIGSTOP) must not free the lock of a command that runs on."""
        self.ask("SET SESSION wait_timeout = DEFAULT")
        answer = self.ask("SELECT GET_LOCK(%s, %s)", self.name, seconds)
        if answer is None:
            remedy = "look at the server's log, then try again"
            raise LockTrouble(f"the server could not say whether the lock {self.name} is free", remedy=remedy)
        return int(answer) == 1

    def let_go(self) -> None:
        """See the base."""
        self.ask("SELECT RELEASE_LOCK(%s)", self.name)

    def is_held(self) -> bool:
        """See the base."""
        try:
            return bool(self.ask("SELECT IS_USED_LOCK(%s) = CONNECTION_ID()", self.name))
        except LockTrouble:
            return False


class PostgresLock(_Connected):
    """A session's advisory lock."""

    def take(self, seconds: int) -> bool:
        """See the base; a wait is a row of tries, since a lock timeout would count as an error of the session."""
        until = time.monotonic() + seconds
        while not self._try():
            if time.monotonic() >= until:
                return False
            time.sleep(0.1)
        return True

    def _try(self) -> bool:
        return bool(self.ask("SELECT pg_try_advisory_lock(%s)", locking.advisory_key(self.name)))

    def let_go(self) -> None:
        """See the base."""
        self.ask("SELECT pg_advisory_unlock(%s)", locking.advisory_key(self.name))

    def is_held(self) -> bool:
        """See the base."""
        key = locking.advisory_key(self.name) & 0xFFFFFFFFFFFFFFFF
        query = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted "
            "AND classid = %s AND objid = %s AND objsubid = 1"
        )
        try:
            return bool(self.ask(query, key >> 32, key & 0xFFFFFFFF))
        except LockTrouble:
            return False


class SqliteLock(HeldLock):
    """A SQLite file belongs to one host, so a lock of that database is a file beside it."""

    def __init__(self, folder: int, held: HeldFile) -> None:
        self.held = held
        self.folder = folder

    def is_held(self) -> bool:
        """A file lock is held until it is let go."""
        return True

    def release(self) -> None:
        """See the base."""
        self.held.release()
        os.close(self.folder)


def take(url: str, prefix: str, name: str, *, wait: bool) -> HeldLock:
    """Take the lock in the database of this URL. Raises LockHeld, LockTrouble or DatabaseUnavailable."""
    address = parse(url)
    if address.family == "sqlite":
        return _take_beside(address, name, wait=wait)
    driver = driver_for(address)
    raw = driver.connect()
    if address.family == "postgresql":
        raw.autocommit = True
    lock_type = PostgresLock if address.family == "postgresql" else MysqlLock
    lock = lock_type(driver, raw, locking.database_lock_name(prefix, name))
    try:
        while not lock.take(_SLICE_SECONDS if wait else 0):
            if not wait:
                raise LockHeld(f"the lock {name} is held by another run in this database; nothing was run", remedy=locking.HELD)
    except BaseException:
        lock.release()
        raise
    return lock


def _take_beside(address: Address, name: str, *, wait: bool) -> SqliteLock:
    if not address.database:
        raise LockTrouble("a database in memory can hold no lock for others", remedy="name a file: sqlite:///jobs.db")
    file = Path(os.path.realpath(address.database))
    folder = locking.open_folder(file.with_name(file.name + ".locks"))
    return SqliteLock(folder, locking.lock_file(folder, name, wait=wait))
