"""What every verb of the store needs: connections, the backend of the server that answers, the snapshot of limits."""

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from cron2queue.discovery import members
from cron2queue.runtime import limits
from cron2queue.runtime.address import Address
from cron2queue.runtime.backend import Backend
from cron2queue.runtime.driver import Driver, Failure
from cron2queue.runtime.session import Compiler, Session, Sessions, told
from cron2queue.runtime.trouble import DatabaseBusy, RetryTransaction
from cron2queue.runtime.wakeups import Waker

T = TypeVar("T")
Work = Callable[[Session, limits.Controls], T]


def driver_for(address: Address) -> Driver:
    """The driver of the family that the URL names."""
    found = {member.family: member for member in members("cron2queue.runtime.drivers", Driver)}  # type: ignore[type-abstract]
    return found[address.family](address)


def backend_named(name: str) -> Backend:
    """The backend of a server."""
    found = {member.name: member for member in members("cron2queue.runtime.backends", Backend)}
    return found[name]()


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
        self._waker = Waker(driver.address, prefix)
        weakref.finalize(self, self._waker.close)

    def wake_workers(self) -> None:
        """Tell the workers of this host to look now. Only a hint: it never waits and never fails."""
        self._waker.wake()

    @property
    def backend(self) -> Backend:
        """Chosen by what the server says of itself, when it is first needed."""
        if self._backend is None:
            self._backend = backend_named(self.sessions.read(lambda session: self.driver.server(session.raw))[0])
        return self._backend

    def close(self) -> None:
        """Close this process's connections; the store can be used again afterwards."""
        self.sessions.close()
        self._waker.close()

    def controls(self) -> limits.Controls:
        """The snapshot of pauses and limits that is at hand."""
        if self._controls is None:
            self._controls = self.sessions.read(limits.load)
        return self._controls

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
        raise DatabaseBusy("pauses and limits changed faster than they could be read", remedy="Try again.")

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
                    remedy="Roll back and run the whole transaction again.",
                ) from error
            raise told(error, meaning) from error

    @staticmethod
    def _until_current(session: Session, work: Work[T]) -> T:
        for _ in range(20):
            try:
                return work(session, limits.load(session))
            except limits.Stale:
                continue
        raise DatabaseBusy("pauses and limits changed faster than they could be read", remedy="Try again.")
