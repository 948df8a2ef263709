"""PostgreSQL through psycopg 3: READ COMMITTED, synchronous_commit on, waits of seconds, dead connections noticed."""

import select
from collections.abc import Sequence
from typing import Any, ClassVar

from cron2queue.errors import DatabaseUnavailable
from cron2queue.runtime.database.driver import Driver, Failure
from cron2queue.runtime.trouble import DriverMissing, LeaseLost

_SETTINGS = (
    "-c default_transaction_isolation=read\\ committed -c timezone=UTC -c lock_timeout=5s -c statement_timeout=60s "
    "-c idle_in_transaction_session_timeout=60s -c synchronous_commit=on -c client_encoding=UTF8"
)
_AGAIN = frozenset({"40001", "40P01", "55P03"})
_REFUSING = ("53", "25006", "57014")  # out of disk, memory or connections; a read-only standby; over its time
# Connection exceptions; shut down, crashed, being started; said nothing for too long within a transaction.
_GONE = ("08", "57P", "25P03", "25P04")

_WELL = (1, 2)  # PGRES_COMMAND_OK, PGRES_TUPLES_OK


class PostgresqlDriver(Driver):
    """Autocommit outside transactions: one statement is one round trip and one commit."""

    family: ClassVar[str] = "postgresql"
    now: ClassVar[str] = "CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)"
    short_waits: ClassVar[tuple[str, ...]] = ("SET LOCAL lock_timeout = '1s'",)

    def connect(self) -> Any:
        """A black hole is noticed by TCP in 30 s: psycopg itself never times out while reading."""
        try:
            import psycopg
        except ImportError:
            raise DriverMissing("psycopg is not installed", remedy="install it: pip install 'cron2queue[postgres]'") from None
        try:
            return psycopg.connect(**self._arguments(), autocommit=True)
        except psycopg.Error as error:
            raise DatabaseUnavailable(
                f"{self.address.shown} does not answer: {' '.join(str(error).split()) or type(error).__name__}",
                remedy="check that the server runs, and the name, password and rights of the user",
            ) from error

    def _arguments(self) -> dict[str, Any]:
        address = self.address
        arguments: dict[str, Any] = {
            "host": address.host or "127.0.0.1",
            "port": address.port or 5432,
            "user": address.user,
            "password": address.password,
            "dbname": address.database or None,
            "connect_timeout": 10,
            "options": _SETTINGS,
            "tcp_user_timeout": 30_000,
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "application_name": "cron2queue",
        }
        return arguments | dict(address.options)

    def begin(self, raw: Any) -> None:
        """BEGIN by hand, since the connection commits each statement otherwise."""
        raw.execute("BEGIN")

    def join(self, raw: Any) -> bool:
        """A connection in autocommit mode outside a transaction gets one for the length of the call."""
        if not raw.autocommit or raw.info.transaction_status != 0:
            return False
        self.begin(raw)
        return True

    def commit(self, raw: Any) -> None:
        """COMMIT. A transaction that has failed answers ROLLBACK to it, without an error: here that is one."""
        if raw.execute("COMMIT").statusmessage != "COMMIT":
            raise LeaseLost("the transaction had failed and was rolled back", remedy="let errors of the database pass through")

    def rollback(self, raw: Any) -> None:
        """Only inside a transaction: outside it would be a warning."""
        if raw.info.transaction_status != 0:
            raw.execute("ROLLBACK")

    def cursor(self, raw: Any) -> Any:
        """Rows as tuples even where the owner has set a row factory."""
        if type(raw).__module__.partition(".")[0] == "psycopg":
            from psycopg.rows import tuple_row

            return raw.cursor(row_factory=tuple_row)
        return raw.cursor()

    def can_prepare(self, raw: Any) -> bool:
        """Unless it was told not to prepare, as behind a pooler."""
        return raw.prepare_threshold is not None

    def prepare(self, raw: Any, name: str, sql: str) -> None:
        """Under numbered parameters, as libpq knows them."""
        parts = sql.split(self.placeholder)
        numbered = "".join([part + f"${number}" for number, part in enumerate(parts[:-1], 1)]) + parts[-1]
        raw.pgconn.send_prepare(name.encode(), numbered.encode())
        _answer(raw.pgconn)

    def run_prepared(self, raw: Any, name: str, parameters: Sequence[Any]) -> Any:
        """By libpq's own calls: psycopg's take a tenth of the whole. What comes back must be one number a row."""
        cells = [each if each is None or type(each) is bytes else str(each).encode() for each in parameters]
        formats = [0 if type(each) is int else 1 for each in parameters]  # bytes as they are: the other form ends at a NUL
        raw.pgconn.send_query_prepared(name.encode(), cells, formats)
        return _Numbers(_answer(raw.pgconn))

    def is_unprepared(self, error: BaseException) -> bool:
        """A pooler has changed the connection, to one that has it not or has it already; or the tables have changed."""
        return getattr(error, "sqlstate", None) in ("26000", "42P05", "0A000")

    def code_of(self, error: BaseException) -> Failure:
        """By SQLSTATE; an operational error without one is a broken connection."""
        if not self.is_own(error):
            return Failure.OTHER
        state = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
        if state is None:
            return Failure.GONE if type(error).__name__ in ("OperationalError", "InterfaceError") else Failure.OTHER
        if state == "23505":
            return Failure.DUPLICATE
        if state in _AGAIN:
            return Failure.AGAIN
        if state.startswith(_REFUSING):
            return Failure.REFUSING
        return Failure.GONE if state.startswith(_GONE) else Failure.OTHER

    def server(self, raw: Any) -> tuple[str, str]:
        """The server's version, as numbers and dots."""
        number = raw.info.server_version
        return "postgresql", f"{number // 10000}.{number % 10000}"


class _Numbers:
    """The rows of an answer, each of one number."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def fetchall(self) -> list[tuple[int]]:
        value = self._result.get_value
        return [(int(value(row, 0)),) for row in range(self._result.ntuples)]


def _answer(pgconn: Any) -> Any:
    """Wait for the answer to what was sent, as psycopg does it: signals are heard meanwhile, and green threads go on."""
    line = select.poll()
    while pgconn.flush():
        line.register(pgconn.socket, select.POLLIN | select.POLLOUT)
        line.poll()
        pgconn.consume_input()
    line.register(pgconn.socket, select.POLLIN)
    busy = True
    while busy:
        line.poll()
        pgconn.consume_input()
        busy = pgconn.is_busy()
    result = pgconn.get_result()
    while pgconn.get_result() is not None:
        pass
    if result.status not in _WELL:
        raise _error(result)
    return result


def _error(result: Any) -> Exception:
    from psycopg import DatabaseError, OperationalError, errors, pq

    state = result.error_field(pq.DiagnosticField.SQLSTATE)
    try:
        kind = errors.lookup(state.decode()) if state else OperationalError
    except KeyError:  # one of a trigger's own
        kind = DatabaseError
    return kind(result.error_message.decode("utf-8", "replace").strip())
