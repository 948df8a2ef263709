"""Where a database is: `driver://user:password@host:port/name?option=value`, read without SQLAlchemy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cron2queue.errors import UsageError
from cron2queue.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

# The part before `+` names the family; what stands after it is SQLAlchemy's business.
FAMILIES: Final[Mapping[str, str]] = {
    "sqlite": "sqlite",
    "mysql": "mysql",
    "mariadb": "mysql",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}
_REMEDY = (
    "write it (--database, CRON2QUEUE_DATABASE_URL or `database` in the plan) like"
    " sqlite:///jobs.db, mysql+pymysql://user@host/name, postgresql+psycopg://user@host/name"
)


class Address(Record):
    """One database, taken apart. For SQLite `database` is the file; empty means in memory."""

    family: str
    host: str | None = None
    port: int | None = None
    user: str | None = None
    password: str | None = None
    database: str = ""
    options: Mapping[str, str] = MappingProxyType({})

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    @property
    def shown(self) -> str:
        """For messages: never with the password."""
        if self.family == "sqlite":
            return f"sqlite:///{self.database}"
        return f"{self.family}://{self.host or 'localhost'}{f':{self.port}' if self.port else ''}/{self.database}"


def parse(url: str) -> Address:
    """Take a database URL apart. UsageError tells what is wrong with it, never what the password is."""
    scheme, colon, rest = url.partition("://")
    family = FAMILIES.get(scheme.split("+")[0].lower())
    if not colon or family is None:
        raise UsageError("this is not the URL of a database that can hold jobs", remedy=_REMEDY)
    if family == "sqlite":
        path, _, query = rest.partition("?")
        return Address(family=family, database=_sqlite_file(path), options=_options(query))
    return _server(family, url)


def _sqlite_file(path: str) -> str:
    """`sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://` in memory."""
    if path and not path.startswith("/"):
        raise UsageError("a SQLite URL has three slashes, or four before an absolute path", remedy=_REMEDY)
    name = path[1:]
    if "%" in name:
        from urllib.parse import unquote

        name = unquote(name)
    return "" if name == ":memory:" else name


def _options(query: str) -> dict[str, str]:
    if not query:
        return {}
    from urllib.parse import parse_qsl

    return dict(parse_qsl(query))


def _server(family: str, url: str) -> Address:
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError("the port or host of the database URL cannot be read", remedy=_REMEDY) from None
    return Address(
        family=family,
        host=unquote(parts.hostname) if parts.hostname else None,
        port=port,
        user=unquote(parts.username) if parts.username is not None else None,
        password=unquote(parts.password) if parts.password is not None else None,
        database=unquote(parts.path[1:]),
        options=_options(parts.query),
    )
