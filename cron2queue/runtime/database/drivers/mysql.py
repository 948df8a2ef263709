"""MySQL and MariaDB through PyMySQL: READ COMMITTED, UTC, utf8mb4, strict, waits of seconds."""

from collections.abc import Sequence
from typing import Any, ClassVar

from cron2queue.errors import DatabaseUnavailable
from cron2queue.runtime.database.driver import Driver, Failure
from cron2queue.runtime.trouble import DriverMissing

LOCK_WAIT_SECONDS = 5
# A client that is stopped within a transaction keeps its row locks. MariaDB ends such a connection; MySQL knows no time for
# that, only one for connections that say nothing at all, and by default it is eight hours. Ours come back by themselves.
_SILENCE = "/*!80000 wait_timeout = 60,*/ /*M!100300 idle_transaction_timeout = 60,*/"

# 1205 lock wait, 1213 deadlock, 1020 record changed (MariaDB with innodb_snapshot_isolation), 3572 NOWAIT, 1614 XA deadlock.
_AGAIN = frozenset({1205, 1213, 1020, 3572, 1614})
# Gone away, lost, handshake, killed, shutdown, aborted.
_GONE = frozenset(
    {0, 2002, 2003, 2006, 2013, 2014, 2055, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 3169, 4031}
)
# Too many connections (of the server, of the user), read-only, disk full, table full, host blocked, a Galera node that is not
# (or no longer) part of its cluster.
_REFUSING = frozenset({1040, 1203, 1226, 1290, 1836, 1021, 1114, 1129, 1041, 1037, 1038, 1028, 1030, 1047})

_UNPREPARED = frozenset({(1243,), (1615,), (1461,), (1295,)})


class MysqlDriver(Driver):
    """One driver for both servers; which of them answers is found out after connecting."""

    family: ClassVar[str] = "mysql"
    now: ClassVar[str] = "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)"

    current_read: ClassVar[str] = " LOCK IN SHARE MODE"
    short_waits: ClassVar[tuple[str, ...]] = ("SET SESSION innodb_lock_wait_timeout = 1",)

    def connect(self) -> Any:
        """As DB-API wants it: in a transaction from the first statement on."""
        return self._connect(autocommit=False)

    def connect_alone(self) -> Any:
        """As servers begin: a process that enqueues one job says nothing of transactions at all."""
        return self._connect(autocommit=True)

    def _connect(self, *, autocommit: bool) -> Any:
        """Found rows instead of changed rows: a heartbeat that writes the same value again is still a heartbeat."""
        try:
            import pymysql
            from pymysql.constants import CLIENT
        except ImportError:
            raise DriverMissing("PyMySQL is not installed", remedy="install it: pip install 'pymysql>=1.2.4'") from None
        try:
            raw = pymysql.connect(**self._arguments(), client_flag=CLIENT.FOUND_ROWS, autocommit=autocommit)  # type: ignore[call-overload, misc, unused-ignore]
            self._promise(raw)
        except pymysql.Error as error:
            raise DatabaseUnavailable(
                f"{self.address.shown} does not answer: {_said(error)}",
                remedy="check that the server runs, and the name, password and rights of the user",
            ) from error
        return raw

    def _arguments(self) -> dict[str, Any]:
        address, options = self.address, self.address.options
        arguments: dict[str, Any] = {
            "user": address.user,
            "password": address.password or "",
            "database": address.database or None,
            "charset": "utf8mb4",
            "connect_timeout": int(options.get("connect_timeout", 10)),
            "read_timeout": int(options.get("read_timeout", 60)),
            "write_timeout": int(options.get("write_timeout", 60)),
        }
        if "unix_socket" in options:
            return arguments | {"unix_socket": options["unix_socket"]}
        return arguments | {"host": address.host or "127.0.0.1", "port": address.port or 3306}

    def _promise(self, raw: Any) -> None:
        mode = "STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
        with raw.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            cursor.execute(
                f"SET NAMES utf8mb4 COLLATE utf8mb4_bin, time_zone = '+00:00', {_SILENCE} "
                f"sql_mode = '{mode}', innodb_lock_wait_timeout = {LOCK_WAIT_SECONDS}"
            )

    def begin(self, raw: Any) -> None:
        """With autocommit off the first statement begins it. The server tells with each answer how it stands."""
        if raw.get_autocommit():
            raw.autocommit(False)

    def alone(self, raw: Any) -> None:
        """Autocommit, until a unit begins: who enqueues one job after another saves a COMMIT each."""
        if not raw.get_autocommit():
            raw.autocommit(True)

    def let_go(self, raw: Any) -> None:
        """Without autocommit the first query has begun a transaction."""
        if not raw.get_autocommit():
            raw.rollback()

    def cursor(self, raw: Any) -> Any:
        """Tuples, even on a connection whose owner prefers dictionaries."""
        if type(raw).__module__.startswith("pymysql"):
            from pymysql.cursors import Cursor

            return raw.cursor(Cursor)
        return raw.cursor()

    def can_prepare(self, raw: Any) -> bool:
        """MariaDB takes values where MySQL takes but variables, which it must be told before."""
        return "MariaDB" in str(getattr(raw, "server_version", ""))

    def prepare(self, raw: Any, name: str, sql: str) -> None:
        """By PREPARE: PyMySQL knows nothing of the binary protocol."""
        self.cursor(raw).execute(f"PREPARE {name} FROM %s", (sql.replace(self.placeholder, "?"),))

    def run_prepared(self, raw: Any, name: str, parameters: Sequence[Any]) -> Any:
        """By EXECUTE .. USING; what is in the statement but not among its values is neither sent nor read again."""
        cursor = self.cursor(raw)
        cursor.execute(f"EXECUTE {name} USING {', '.join([self.placeholder] * len(parameters))}", parameters)
        return cursor

    def is_unprepared(self, error: BaseException) -> bool:
        """Unknown (a proxy has changed the connection), to be prepared anew, or more than the server takes."""
        return self.is_own(error) and error.args[:1] in _UNPREPARED

    def code_of(self, error: BaseException) -> Failure:
        """By the server's error number; PyMySQL's InterfaceError(0) means that the connection is closed."""
        number = error.args[0] if error.args and isinstance(error.args[0], int) else None
        if number is None or not self.is_own(error):
            return Failure.OTHER
        if number == 1062:
            return Failure.DUPLICATE
        for numbers, meaning in ((_AGAIN, Failure.AGAIN), (_GONE, Failure.GONE), (_REFUSING, Failure.REFUSING)):
            if number in numbers:
                return meaning
        return Failure.OTHER

    def server(self, raw: Any) -> tuple[str, str]:
        """MariaDB says so in its version; old ones put 5.5.5- before it for old replicas."""
        with self.cursor(raw) as cursor:
            cursor.execute("SELECT VERSION()")
            version = str(cursor.fetchone()[0])
        self.let_go(raw)
        return ("mariadb" if "mariadb" in version.lower() else "mysql"), version.removeprefix("5.5.5-")


def _said(error: BaseException) -> str:
    return str(error.args[1]) if len(error.args) > 1 else str(error) or type(error).__name__
