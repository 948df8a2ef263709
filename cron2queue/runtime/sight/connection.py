"""One short look at the database: its connection, its clock, and its troubles in our words.

Connections come from the runtime's own drivers, with the same isolation, character set and waits as the jobs have;
SQLAlchemy only writes the statements.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from cron2queue.errors import Cron2QueueError, DatabaseUnavailable
from cron2queue.redaction import redact
from cron2queue.runtime.database.address import Address, parse
from cron2queue.runtime.database.driver import Driver, Failure
from cron2queue.runtime.database.instants import from_micros
from cron2queue.runtime.desk import driver_for
from cron2queue.runtime.trouble import DatabaseBusy, SchemaMismatch

_DIALECTS = {"sqlite": "sqlite://", "mysql": "mysql+pymysql://", "postgresql": "postgresql+psycopg://"}

# Queue, state and priority hang together, which PostgreSQL does not know: it would guess few rows, read them all and sort
# them. Every question here is a bounded walk along an index, and must stay one.
_WALK_INDEXES = "; ".join(
    f"SET {each} = off"
    for each in ("enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "jit")
)


@dataclass(frozen=True, slots=True)
class Source:
    """A database to look at."""

    address: Address
    driver: Driver
    engine: Engine

    @property
    def shown(self) -> str:
        """The database in a few words, without user and password."""
        return self.address.shown


def source(url: str) -> Source:
    """The database of this URL, not connected yet. Raises UsageError for an URL of no known database."""
    address = parse(url)
    driver = driver_for(address)

    def connect() -> object:
        _must_exist(address)
        raw = driver.connect()
        if address.family == "postgresql":
            raw.execute(_WALK_INDEXES)
        return raw

    engine = create_engine(_DIALECTS[address.family], creator=connect, poolclass=NullPool)
    return Source(address, driver, engine)


def _must_exist(address: Address) -> None:
    """A look must not leave an empty database behind where someone mistyped a path."""
    if address.family == "sqlite" and address.database and not os.path.isfile(address.database):
        raise DatabaseUnavailable(
            f"there is no SQLite file {address.database}",
            remedy="name the plan with --plan, or the database with --database; cron2queue migrate up makes a new one",
        )


@contextmanager
def connected(source: Source) -> Iterator[Connection]:
    """A connection for one look; what the database says against it comes out as an error of our own."""
    try:
        with source.engine.connect() as connection:
            yield connection
    except DBAPIError as trouble:
        raise translated(source, trouble) from None


def translated(source: Source, trouble: DBAPIError) -> Cron2QueueError:
    """Busy, away, or a statement that does not fit: which is, as the statements are tested, an old schema."""
    said = redact(" ".join(str(trouble.orig).split()))  # libpq speaks in several lines
    failure = Failure.OTHER if trouble.orig is None else source.driver.code_of(trouble.orig)
    if failure is Failure.AGAIN:
        return DatabaseBusy(f"{source.shown} is busy: {said}", remedy="try again in a moment")
    if failure is Failure.OTHER:
        remedy = "cron2queue migrate status tells what is missing, migrate up adds it"
        return SchemaMismatch(f"the tables in {source.shown} are not as this release needs them: {said}", remedy=remedy)
    return DatabaseUnavailable(f"{source.shown} does not answer: {said}", remedy="look whether it runs, and at --database")


def database_now(source: Source, connection: Connection) -> datetime:
    """The time of the database's clock: the only clock that times in the tables come from."""
    return from_micros(int(connection.execute(text(f"SELECT {source.driver.now}")).scalar_one()))
