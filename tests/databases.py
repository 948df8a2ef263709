"""The databases that tests run on: SQLite always; MariaDB, MySQL and PostgreSQL where their servers answer.

Addresses come from C2Q_TEST_MARIADB_URL, C2Q_TEST_MYSQL_URL and C2Q_TEST_POSTGRESQL_URL, or are those of `.ci/servers`.
A server that does not answer skips its tests at home, and fails them where CI is set: silence is never taken for a pass.
Each process of the test run has a database of its own, so that tests may run in parallel.
"""

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from presence import absent

from cron2queue.errors import DatabaseUnavailable
from cron2queue.runtime.backend import Backend
from cron2queue.runtime.database.address import Address, parse
from cron2queue.runtime.desk import driver_for
from cron2queue.runtime.migrations import STEPS
from cron2queue.runtime.store import Store

NAMES = ("sqlite", "mariadb", "mysql", "postgresql")
SERVERS = NAMES[1:]
_SOCKET = "/run/mysqld/mysqld.sock"


def server_url(name: str) -> str:
    """Where a server is, with `{}` in the place of the database's name."""
    defaults = {
        "mariadb": f"mysql+pymysql://root@localhost/?unix_socket={_SOCKET}"
        if Path(_SOCKET).exists()
        else "mysql+pymysql://root@127.0.0.1:3306/",
        "mysql": "mysql+pymysql://root@127.0.0.1:3326/",
        "postgresql": "postgresql+psycopg://postgres@127.0.0.1:5432/",
    }
    url = os.environ.get(f"C2Q_TEST_{name.upper()}_URL", defaults[name])
    base, question, query = url.partition("?")
    scheme, _, rest = base.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/{{}}{question}{query}"


@contextmanager
def administrator(name: str) -> Iterator[Any]:
    """A cursor that may create databases."""
    address = parse(server_url(name).format("postgres" if name == "postgresql" else ""))
    driver = driver_for(address)
    raw = driver.connect()
    try:
        if name != "postgresql":
            raw.autocommit(True)
        yield driver.cursor(raw)
    finally:
        raw.close()


@cache
def reason_unreachable(name: str) -> str | None:
    """Why a server cannot be used, or None."""
    if name == "sqlite":
        return None
    try:
        with administrator(name) as cursor:
            cursor.execute("SELECT VERSION()")
            version = str(cursor.fetchone()[0])
    except DatabaseUnavailable as error:
        return f"{name}: {error.message}"
    if (name == "mariadb") != ("mariadb" in version.lower()):
        return f"{name}: another server answers there, version {version}"
    return None


def need(name: str) -> None:
    """Skip the test at home, fail it in CI, if the server does not answer."""
    if reason := reason_unreachable(name):
        absent(reason)


@cache
def own_database(name: str, purpose: str = "t") -> str:
    """The URL of a database of this process alone; made when first asked for, dropped at its end."""
    label = f"c2q_{purpose}_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_{os.getpid()}"
    with administrator(name) as cursor:
        cursor.execute(f"CREATE DATABASE {label}")
    atexit.register(_drop, name, label, os.getpid())
    return server_url(name).format(label)


def _drop(name: str, label: str, pid: int) -> None:
    if os.getpid() != pid:
        return
    with administrator(name) as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {label}" + (" WITH (FORCE)" if name == "postgresql" else ""))


@dataclass
class Database:
    """One empty job table on one database, and stores on it. `bare` runs them on the base backend."""

    name: str
    url: str
    bare: bool = False
    prefix: str = "c2q_"
    stores: list[Store] = field(default_factory=list)

    def store(self, **options: Any) -> Store:
        """A store of its own: another process, as far as the store knows. Closed at the end of the test."""
        if self.bare:
            options.setdefault("backend", Backend())
        opened = Store.open(self.url, **{"prefix": self.prefix, **options})
        self.stores.append(opened)
        return opened

    @property
    def address(self) -> Address:
        return parse(self.url)

    def connect(self) -> Any:
        """A raw connection, as an application would have it."""
        return driver_for(self.address).connect()

    def rows(self, query: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """Query by hand; `?` are parameters, `{jobs}` a table."""
        if not self.stores:
            self.store()
        return self.stores[0].sessions.read(lambda session: session.rows(query, parameters))

    def value(self, query: str, parameters: Any = ()) -> Any:
        found = self.rows(query, parameters)
        return found[0][0] if found else None

    def change(self, statement: str, parameters: Any = ()) -> int:
        """Write by hand."""
        if not self.stores:
            self.store()
        return self.stores[0].sessions.unit(lambda session: session.changed(statement, parameters))

    def close(self) -> None:
        while self.stores:
            self.stores.pop().close()

    def empty(self) -> None:
        """No rows, as after `migrate up`."""
        store = self.store()

        def work(session: Any) -> None:
            for table in STEPS[0].tables:
                if table not in ("migrations", "controls"):
                    session.run(f"DELETE FROM {{{table}}}")
            session.run("UPDATE {controls} SET version = 1, restart_mark = 0, host = NULL")

        store.sessions.unit(work)


@cache
def _migrated(name: str) -> str:
    url = own_database(name)
    store = Store.open(url)
    store.migrate_up()
    store.close()
    return url


def open_database(name: str, folder: Path, *, bare: bool = False) -> Database:
    """An empty, migrated job table."""
    need(name)
    if name == "sqlite":
        database = Database(name=name, url=f"sqlite:///{folder / 'jobs.db'}", bare=bare)
        database.store().migrate_up()
        database.close()
        return database
    database = Database(name=name, url=_migrated(name), bare=bare)
    database.empty()
    database.close()
    return database


def open_unmigrated(name: str, folder: Path) -> Database:
    """A database without any table of ours."""
    need(name)
    if name == "sqlite":
        (folder / "empty.db").touch()
        return Database(name=name, url=f"sqlite:///{folder / 'empty.db'}")
    database = Database(name=name, url=own_database(name, "m"))
    store = database.store()
    store.migrate_down(to=0, force=True)
    database.close()
    return database
