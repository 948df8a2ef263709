"""Connections of one store: one a thread, none across a fork, and units of work that are run again as a whole."""

from __future__ import annotations

import _thread  # `threading` is dear to load, and only the number of the thread is wanted
import os
import time
from collections.abc import Callable, Sequence

from cron2queue.errors import Cron2QueueError, DatabaseUnavailable
from cron2queue.runtime.database.driver import Driver, Failure
from cron2queue.runtime.trouble import DatabaseBusy, OutcomeUnknown, SchemaMismatch, StatementFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeVar

    from cron2queue.runtime.database.preparing import Prepared

    T = TypeVar("T")
    Parameters = Sequence[Any]

TABLES: Final = (
    "jobs", "attempts", "inbox", "workers", "queues", "limits", "controls", "subscriptions", "ticks", "operations",
    "rollups", "marks", "migrations",
)  # fmt: skip
PATIENCE_SECONDS: Final = 15.0
_READ, _SINGLE, _UNIT = range(3)  # what is around the statements of a piece of work: nothing; a commit each; one for all
_MOST_STATEMENTS = 3000

# Connections that a fork has copied. They are never used nor closed here (the other side still speaks through them),
# so they are kept from the garbage collector, which would close them.
_inherited: list[Any] = []


class Compiler:
    """Turns a statement template into the driver's SQL: `{jobs}` a table, `{now}` the clock, `?` a parameter."""

    def __init__(self, driver: Driver, prefix: str, clock: Callable[[], int] | None) -> None:
        self._names = {name: f"{prefix}{name}" for name in TABLES}
        self._driver = driver
        self._clock = clock
        self._compiled: dict[str, str] = {}

    def sql(self, template: str) -> str:
        """The statement; with a clock of the caller's own, its reading stands where `{now}` was."""
        sql = self._compiled.get(template)
        if sql is None:
            if len(self._compiled) > _MOST_STATEMENTS:
                self._compiled.clear()
            now = self._driver.now if self._clock is None else "\0"
            sql = template.format_map({**self._names, "now": now}).replace("?", self._driver.placeholder)
            self._compiled[template] = sql
        return sql if self._clock is None else sql.replace("\0", str(self._clock()))


class Session:
    """One connection and the means to speak to it. `careful` asks backends for one row at a time."""

    def __init__(self, driver: Driver, raw: Any, compiler: Compiler) -> None:
        self.driver = driver
        self.raw = raw
        self.careful = False
        self.reruns = 0  # how often the unit of work at hand was run before
        self._compiler = compiler
        self._cursor: Any = None
        self._prepared: Prepared | None = None

    def sql(self, template: str) -> str:
        """The statement as the driver sends it."""
        return self._compiler.sql(template)

    def run(self, template: str, parameters: Parameters = ()) -> Any:
        """Execute one statement; the cursor is good until the next one."""
        return self.send(self._compiler.sql(template), parameters)

    def send(self, sql: str, parameters: Parameters = ()) -> Any:
        """Execute what is the driver's SQL already, as `sql` gives it; for statements that are never the same twice."""
        cursor = self._cursor
        if cursor is None:
            cursor = self._cursor = self.driver.cursor(self.raw)
        try:
            cursor.execute(sql, parameters)
        except (OverflowError, UnicodeError) as error:  # a value that the driver cannot even send
            raise StatementFailed(f"a value cannot be stored: {error}", remedy="report it") from error
        return cursor

    def run_often(self, template: str, parameters: Parameters) -> Any:
        """Execute one statement outside a transaction, which this connection will see again: it may be prepared."""
        if self._prepared is None:
            from cron2queue.runtime.database.preparing import Prepared  # not where nothing is prepared

            self._prepared = Prepared(self.driver, self.raw)
        sql = self._compiler.sql(template)
        name = self._prepared.name(sql)
        if name is not None:
            try:
                return self.driver.run_prepared(self.raw, name, parameters)
            except Exception as error:
                if not self.driver.is_unprepared(error):
                    raise
            self._prepared.give_up()
        return self.send(sql, parameters)

    def rows(self, template: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return list(self.run(template, parameters).fetchall())

    def row(self, template: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """The first row, or None. The rest is read as well: SQLite keeps a statement open until then."""
        found: Sequence[tuple[Any, ...]] = self.run(template, parameters).fetchall()
        return found[0] if found else None

    def value(self, template: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.row(template, parameters)
        return None if found is None else found[0]

    def changed(self, template: str, parameters: Parameters = ()) -> int:
        """How many rows a write has hit."""
        return int(self.run(template, parameters).rowcount)


class RunCarefully(Exception):
    """A batch did not hit all its rows: the unit is rolled back and run again, one row at a time."""


class Sessions:
    """The connections of one store in this process, one for each thread that asks."""

    def __init__(self, driver: Driver, compiler: Compiler, *, patience: float = PATIENCE_SECONDS) -> None:
        self.driver = driver
        self._compiler = compiler
        self._patience = patience
        self._held: dict[int, tuple[int, Session]] = {}  # by thread; a new thread takes up what a dead one of its number left
        self._mine: list[tuple[int, Session]] = []

    def open(self) -> Session:
        """A new connection, beside the thread's own."""
        session = Session(self.driver, self.driver.connect_alone(), self._compiler)
        self._mine.append((os.getpid(), session))
        return session

    def borrow(self, raw: Any) -> Session:
        """Speak through a connection that belongs to the caller."""
        return Session(self.driver, raw, self._compiler)

    def current(self) -> Session:
        """The connection of the calling thread, made when first asked for."""
        thread = _thread.get_ident()
        held = self._held.get(thread)
        if held is not None and held[0] != os.getpid():
            _inherited.append(held)
            held = None
        if held is not None and self.driver.is_replaced(held[1].raw):
            self.drop(held[1])
            held = None
        if held is None:
            held = self._held[thread] = (os.getpid(), self.open())
        return held[1]

    def drop(self, session: Session) -> None:
        """Close one connection, whatever state it is in."""
        for mine in [each for each in self._mine if each[1] is session]:
            self._mine.remove(mine)  # in place: another thread may be adding its own
        for thread, held in list(self._held.items()):
            if held[1] is session:
                del self._held[thread]
        try:
            self.driver.close(session.raw)
        except Exception as error:
            if not self.driver.is_own(error):
                raise

    def close(self) -> None:
        """Close what this process opened; what a fork has copied stays with its owner."""
        for pid, session in list(self._mine):
            if pid == os.getpid():
                self.drop(session)
            else:
                _inherited.append(session)
        self._mine = []

    def read(self, work: Callable[[Session], T]) -> T:
        """Run queries that change nothing."""
        return self._until_it_works(work, _READ)

    def single(self, work: Callable[[Session], T]) -> T:
        """Run a unit of which each statement may stand by itself: without BEGIN and COMMIT around it."""
        return self._until_it_works(work, _SINGLE)

    def unit(self, work: Callable[[Session], T]) -> T:
        """Run a unit of work in one transaction; it must be harmless to run it again after an unknown COMMIT."""
        return self._until_it_works(work, _UNIT)

    def begin(self, session: Session) -> None:
        """Begin what only its owner can run again; locks of others are waited for as long as a unit would wait."""
        attempt, began, tries = _Attempt(self.driver, session, _UNIT), time.monotonic(), 0
        while True:
            try:
                return self.driver.begin(session.raw)
            except Exception as error:
                if attempt.meaning_of(error) is not Failure.AGAIN:
                    raise
                self._after(attempt, error, patient=time.monotonic() - began < self._patience)
            time.sleep(_pause(tries, 0.0))
            tries += 1

    def _until_it_works(self, work: Callable[[Session], T], mode: int) -> T:
        began = time.monotonic()
        deadline = began + self._patience
        reruns, careful = 0, False
        while True:
            session = self.current()
            session.reruns, session.careful = reruns, careful
            attempt = _Attempt(self.driver, session, mode)
            try:
                return attempt.run(work)
            except RunCarefully:
                careful = True
            except Exception as error:
                self._after(attempt, error, patient=time.monotonic() < deadline)
                time.sleep(_pause(reruns, time.monotonic() - began))
            reruns, began = reruns + 1, time.monotonic()

    def _after(self, attempt: _Attempt, error: Exception, *, patient: bool) -> None:
        """Return if the unit should be run again; raise what the caller must know otherwise."""
        meaning = attempt.meaning_of(error)
        if meaning is Failure.GONE:
            self.drop(attempt.session)
        if not self.driver.is_own(error):
            raise error
        if meaning is Failure.AGAIN and not patient:
            raise DatabaseBusy("the database stayed locked by others", remedy="try again later") from error
        if meaning is Failure.GONE and not patient:
            kind = OutcomeUnknown if attempt.committing else DatabaseUnavailable
            raise kind("the connection to the database broke", remedy="check that the server runs, then try again") from error
        if meaning in (Failure.AGAIN, Failure.GONE):
            return
        raise told(error, meaning) from error


def _pause(reruns: int, lasted: float) -> float:
    """Jitter that grows with the failures and with the unit's own length: those who collided are to come apart."""
    import random  # most units never collide

    return random.uniform(0.0005, max(min(0.25, 0.004 * 1.5 ** min(reruns, 12)), min(1.0, lasted)))


class _Attempt:
    """One run of a unit on one connection: it knows whether the COMMIT was already on its way."""

    def __init__(self, driver: Driver, session: Session, mode: int) -> None:
        self._driver = driver
        self.session = session
        self._mode = mode
        self.committing = mode == _SINGLE  # each of its statements is on its way to be kept

    def run(self, work: Callable[[Session], T]) -> T:
        driver, session = self._driver, self.session
        try:
            if self._mode == _UNIT:
                driver.begin(session.raw)
            elif self._mode == _SINGLE:
                driver.alone(session.raw)
            result = work(session)
            if self._mode == _UNIT:
                self.committing = True
                driver.commit(session.raw)
            elif self._mode == _READ:
                driver.let_go(session.raw)
        except BaseException as error:
            self._undo(error)
            raise
        return result

    def _undo(self, error: BaseException) -> None:
        if self._driver.code_of(error) is Failure.GONE:
            return
        try:
            self._driver.rollback(self.session.raw)
        except Exception as second:
            if not self._driver.is_own(second):
                raise
            self.session.raw.close()

    def meaning_of(self, error: Exception) -> Failure:
        return self._driver.code_of(error)


_MISSING = frozenset({"42P01", "42703"})  # no such table, no such column
_DENIED = frozenset({"42501", 1044, 1142, 1143, 1227})  # the user has not the right: of PostgreSQL, of MySQL and MariaDB


def told(error: BaseException, meaning: Failure) -> Cron2QueueError:
    """The error that a person is told about, for one that running again does not change."""
    state = getattr(error, "sqlstate", None)
    number = error.args[0] if error.args else None
    text = str(error.args[-1] if error.args else error).strip().split("\n")[0]
    if state in _MISSING or number in (1146, 1054) or "no such table" in text or "no such column" in text:
        return SchemaMismatch(
            f"the tables are not those of this release: {text}", remedy="run: cron2queue migrate up, then try again"
        )
    if state in _DENIED or number in _DENIED:
        remedy = "give the database user its rights: SELECT, INSERT, UPDATE, DELETE; for migrate CREATE, ALTER, DROP, INDEX too"
        return DatabaseUnavailable(f"the database allows this user no such thing: {text}", remedy=remedy)
    if meaning is Failure.GONE:
        return DatabaseUnavailable(f"the connection to the database broke: {text}", remedy="check the server, then try again")
    if meaning is Failure.REFUSING:
        remedy = "look at the server and its disk, then try again"
        return DatabaseUnavailable(f"the database cannot write just now: {text}", remedy=remedy)
    return StatementFailed(f"the database refused a statement: {text}", remedy="report it, with the version of the server")
