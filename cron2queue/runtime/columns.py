"""The column types of the job table: each is the same value, compared the same way, on every database.

Instants are BIGINT microseconds since 1970 UTC: no time zone, no daylight saving, no year 2038, no driver's own opinion.
Keys are bytes: case, accents, normal form and trailing blanks count everywhere, whatever the collation says.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import REAL, BigInteger, Integer, LargeBinary, String, Text
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.types import Float, TypeDecorator, TypeEngine

from cron2queue.runtime.database.instants import from_micros, to_micros
from cron2queue.text import to_bytes, to_text


class Moment(TypeDecorator[datetime]):
    """An instant, as BIGINT microseconds since 1970 UTC; aware datetimes in Python."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """INTEGER on SQLite, whose strict tables know no BIGINT."""
        return dialect.type_descriptor(Integer() if dialect.name == "sqlite" else BigInteger())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Naive datetimes are refused by the subtraction, as their meaning is unknown."""
        return None if value is None else to_micros(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Aware, in UTC."""
        return None if value is None else from_micros(int(value))


class Exact(TypeDecorator[str]):
    """Text that is compared byte by byte: UTF-8 in VARBINARY, BYTEA or BLOB; bytes that were not UTF-8 come back."""

    impl = LargeBinary
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """VARBINARY where a BLOB could not be indexed."""
        if dialect.name in ("mysql", "mariadb"):
            return dialect.type_descriptor(mysql.VARBINARY(self.length))
        return dialect.type_descriptor(postgresql.BYTEA() if dialect.name == "postgresql" else LargeBinary())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """The text's own bytes."""
        return None if value is None else to_bytes(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """The text of the bytes."""
        return None if value is None else to_text(bytes(value))


_MYSQL = ("mysql", "mariadb")


def identity() -> TypeEngine[int]:
    """BIGINT; INTEGER on SQLite, which counts only that type up by itself."""
    return BigInteger().with_variant(Integer(), "sqlite")


def number() -> TypeEngine[int]:
    """A counter or small number: INT."""
    return Integer()


def large() -> TypeEngine[int]:
    """A number that may pass two thousand million."""
    return BigInteger().with_variant(Integer(), "sqlite")


def real() -> TypeEngine[float]:
    """A double."""
    return Float(53).with_variant(mysql.DOUBLE(asdecimal=False), *_MYSQL).with_variant(REAL(), "sqlite")


def name(length: int) -> TypeEngine[str]:
    """A word of our own making (state, queue, kind, token): ASCII, compared exactly."""
    exact = mysql.VARCHAR(length, charset="ascii", collation="ascii_bin")
    return String(length).with_variant(exact, *_MYSQL).with_variant(Text(), "sqlite")


def words(length: int) -> TypeEngine[str]:
    """A short text for people."""
    return String(length).with_variant(Text(), "sqlite")


def document() -> TypeEngine[str]:
    """A long text. LONGTEXT on MySQL and MariaDB: TEXT ends at 64 KiB there."""
    return Text().with_variant(mysql.LONGTEXT(), *_MYSQL)


def digest() -> TypeEngine[bytes]:
    """A SHA-256."""
    return LargeBinary(32).with_variant(mysql.BINARY(32), *_MYSQL)
