"""What every verb of the store needs: connections, the backend of the server that answers, the snapshot of limits."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable

from cron2queue.runtime import limits
from cron2queue.runtime.backend import Backend
from cron2queue.runtime.database.address import Address, parse
from cron2queue.runtime.database.driver import Driver, Failure
from cron2queue.runtime.database.prefix import PREFIX, checked_prefix
from cron2queue.runtime.database.session import Compiler, Session, Sessions, told
from cron2queue.runtime.trouble import DatabaseBusy, RetryTransaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, TypeVar

    from cron2queue.runtime.database.wakeups import Waker

    T = TypeVar("T")
    Work = Callable[[Session, limits.Controls], T]


def driver_for(address: Address) -> Driver:
    """The driver of the family that the URL names. A member's module has the member's name: only that one is loaded."""
    return _only_member(f"cron2queue.runtime.database.drivers.{address.family}", Driver)(address)  # type: ignore[type-abstract]


def backend_named(name: str) -> Backend:
    """The backend of a server."""
    return _only_member(f"cron2queue.runtime.backends.{name}", Backend)()


def _only_member(module_name: str, contract: type[T]) -> type[T]:
    own = vars(importlib.import_module(module_name)).values()
    return next(
        value for value in own if isinstance(value, type) and issubclass(value, contract) and value.__module__ == module_name
    )


def raw_connection(connection: Any) -> Any:
    """The DB-API connection in a SQLAlchemy Session or Connection, or the connection itself if it is one.

    SQLAlchemy is told that a transaction has begun: otherwise its commit() would not reach the database.
    """
    if hasattr(connection, "get_bind") and callable(getattr(connection, "connection", None)):
        connection = connection.connection()
    if hasattr(connection, "exec_driver_sql"):
        if not connection.in_transaction():
            connection.begin()
        connection = connection.connection
    return getattr(connection, "driver_connection", connection)


class Desk:
    """Base of the store's verbs."""

    def __init__(
        self,
        driver: Driver,
        *,
        prefix: str,
        backend: Backend | None = None,
        clock: Callable[[], int] | None = None,
        patience: float | None = None,
    ) -> None:
        self.prefix = prefix
        self.driver = driver
        self._compiler = Compiler(driver, prefix, clock)
        self.sessions = Sessions(driver, self._compiler, **({} if patience is None else {"patience": patience}))
        self._backend = backend
        self._controls: limits.Controls | None = None
        self._good_until: float | None = None
        self._waker: Waker | None = None
        self._told_by_server = False

    @classmethod
    def open(
        cls,
        url: str,
        *,
        prefix: str = PREFIX,
        clock: Callable[[], int] | None = None,
        backend: Backend | None = None,
        patience: float | None = None,
    ) -> Self:
        """Verbs on the database of this URL; they connect when first used.

        `clock` (microseconds since 1970) replaces the database's clock, for tests. `backend` replaces the one that the
        server's own name chooses. `patience`: seconds for which locks of others and broken connections are put up with.
        """
        driver = driver_for(parse(url))
        return cls(driver, prefix=checked_prefix(prefix), backend=backend, clock=clock, patience=patience)

    def wake_workers(self) -> None:
        """Tell the workers to look now. Only a hint: it never waits and never fails.

        Datagrams reach this host only; where a server is on another one, workers may be anywhere, and PostgreSQL tells them.
        """
        if self._waker is None:
            from cron2queue.runtime.database.wakeups import Waker, is_local

            self._waker = Waker(self.driver.address, self.prefix)
            self._told_by_server = self.driver.family == "postgresql" and not is_local(self.driver.address)
        self._waker.wake()
        if self._told_by_server:
            from cron2queue.runtime.database.wakeups import NOTIFY

            self.sessions.single(lambda session: session.run(NOTIFY))

    def impatient_sessions(self) -> Sessions:
        """Connections beside those of the verbs, for what is not worth waiting for."""
        return Sessions(self.driver, self._compiler, patience=1.0)

    @property
    def backend(self) -> Backend:
        """Chosen by what the server says of itself, when it is first needed."""
        if self._backend is None:
            self._backend = backend_named(self.sessions.read(lambda session: self.driver.server(session.raw))[0])
        return self._backend

    def close(self) -> None:
        """Close this process's connections; the store can be used again afterwards."""
        self.sessions.close()
        if self._waker is not None:
            self._waker.close()

    def controls(self) -> limits.Controls:
        """The snapshot of pauses and limits that is at hand, or a new one."""
        found = self._at_hand()
        if found is None:
            found = self._controls = self.sessions.read(limits.load)
            self._good_until = None if found.good_for is None else time.monotonic() + found.good_for
        return found

    def _at_hand(self) -> limits.Controls | None:
        ended = self._good_until is not None and time.monotonic() >= self._good_until
        return None if ended else self._controls

    def forget_controls(self) -> None:
        """After a change: read pauses and limits anew."""
        self._controls = None

    def with_controls(self, work: Work[T], *, single: bool = False) -> T:
        """Run a unit that goes by pauses and limits, again with a new snapshot while the one at hand is too old."""
        run = self.sessions.single if single else self.sessions.unit
        for _ in range(20):
            controls = self.controls()
            try:
                return run(lambda session, controls=controls: work(session, controls))  # type: ignore[misc]
            except limits.Stale:
                self.forget_controls()
        raise DatabaseBusy("pauses and limits changed faster than they could be read", remedy="try again")

    def inside(self, connection: Any, work: Work[T]) -> T:
        """Run a unit in the caller's own transaction. What the database rolls back there is the caller's to run again."""
        session = self.sessions.borrow(raw_connection(connection))
        commits_itself = False
        try:
            commits_itself = self.driver.join(session.raw)
            result = self._until_current(session, work)
            if commits_itself:
                self.driver.commit(session.raw)
            return result
        except Exception as error:
            if commits_itself:
                self.driver.rollback(session.raw)
            if not self.driver.is_own(error):
                raise
            meaning = self.driver.code_of(error)
            if meaning is Failure.AGAIN:
                raise RetryTransaction(
                    "the database rolled the transaction back because others held locks",
                    remedy="roll back and run the whole transaction again",
                ) from error
            raise told(error, meaning) from error

    def _until_current(self, session: Session, work: Work[T]) -> T:
        """By the snapshot at hand; else by what the caller's transaction sees, which may never come to be, and is not kept."""
        controls = self._at_hand()
        for _ in range(20):
            try:
                return work(session, controls or limits.load(session))
            except limits.Stale:  # its first jobs may be written already
                controls = None
                session.reruns += 1
        raise DatabaseBusy("pauses and limits changed faster than they could be read", remedy="try again")
