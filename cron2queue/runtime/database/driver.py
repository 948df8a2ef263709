"""The contract of a driver: how one family of databases is connected to, spoken to, and understood when it fails.

A driver knows nothing of jobs. What is done with jobs, and which statement is best for it, is a backend's matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from cron2queue.runtime.database.address import Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar


class Failure:
    """What an error of the database means for the unit of work in which it came up. There is one of each."""

    AGAIN: ClassVar[Failure]  # deadlock, lock wait, busy: roll back and run the whole unit again
    GONE: ClassVar[Failure]  # the connection is lost: nothing, or (at COMMIT) nobody knows what, was done
    DUPLICATE: ClassVar[Failure]  # a unique index refused it
    REFUSING: ClassVar[Failure]  # the server answers but cannot serve now: disk full, read-only, too many connections
    OTHER: ClassVar[Failure]  # a mistake, ours or the schema's

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Failure.{self.name}"


for _name in Failure.__annotations__:
    setattr(Failure, _name, Failure(_name))


class Driver(ABC):
    """One family of databases. `now` is SQL for the database's clock in microseconds since 1970 UTC."""

    family: ClassVar[str]
    placeholder: ClassVar[str] = "%s"
    now: ClassVar[str]
    current_read: ClassVar[str] = ""  # appended to a SELECT, it sees what is committed now, not an older snapshot
    short_waits: ClassVar[tuple[str, ...]] = ()  # in a transaction: from now on it waits a second for locks, no longer

    def __init__(self, address: Address) -> None:
        self.address = address

    @abstractmethod
    def connect(self) -> Any:
        """A new connection with every promise set: isolation, UTC, character set, strictness, durability, short waits."""

    def connect_alone(self) -> Any:
        """The same for a session of our own: in no transaction until a unit begins one, if that saves words."""
        return self.connect()

    def exists(self) -> bool:
        """Whether there is a database to connect to, as far as that can be told without connecting."""
        return True

    def create(self) -> bool:
        """Make the database, where it is but a file. Only a migration does this: never make a fresh queue by accident.

        True if it was made.
        """
        return False

    def is_replaced(self, raw: Any) -> bool:
        """Whether the connection leads to what is no longer the database: a file that was deleted or replaced."""
        return False

    @abstractmethod
    def begin(self, raw: Any) -> None:
        """Start a transaction that will write."""

    def alone(self, raw: Any) -> None:
        """From now until the next begin each statement is a transaction of its own. Most connections are so anyway."""
        return

    def let_go(self, raw: Any) -> None:
        """After queries outside a unit: hold no snapshot of theirs."""
        return

    def join(self, raw: Any) -> bool:
        """Make sure that a caller's connection is in a transaction. True if its owner expects each call to commit itself."""
        return False

    def commit(self, raw: Any) -> None:
        """Make it durable."""
        raw.commit()

    def rollback(self, raw: Any) -> None:
        """Undo everything since begin."""
        raw.rollback()

    def close(self, raw: Any) -> None:
        """Let the connection go."""
        raw.close()

    def cursor(self, raw: Any) -> Any:
        """A cursor whose rows are tuples, whatever its owner has configured."""
        return raw.cursor()

    def can_prepare(self, raw: Any) -> bool:
        """Whether this server runs a statement faster that was prepared; `prepare` and `run_prepared` are asked only then."""
        return False

    def prepare(self, raw: Any, name: str, sql: str) -> None:
        """Let the server read a statement once, under a name of this connection."""
        raise TypeError(f"{type(self).__name__} prepares nothing")

    def run_prepared(self, raw: Any, name: str, parameters: Sequence[Any]) -> Any:
        """Execute what was prepared; a cursor, or what can `fetchall` like one."""
        raise TypeError(f"{type(self).__name__} prepares nothing")

    def is_unprepared(self, error: BaseException) -> bool:
        """Whether a statement could not be prepared, or is so no longer; nothing was done then, and it can be sent as it is."""
        return False

    @abstractmethod
    def code_of(self, error: BaseException) -> Failure:
        """What the error means."""

    def is_own(self, error: BaseException) -> bool:
        """Whether the driver of a database raised it."""
        return type(error).__module__.partition(".")[0] in ("sqlite3", "pymysql", "MySQLdb", "psycopg", "psycopg2")

    def server(self, raw: Any) -> tuple[str, str]:
        """Name of the backend (sqlite, mysql, mariadb, postgresql) and version of the server."""
        raise TypeError(f"{type(self).__name__} does not tell which server it speaks to")
