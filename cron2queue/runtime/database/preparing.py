"""Statements that come again and again on one connection are prepared: a server reads a long one as long as it works at it."""

from __future__ import annotations

from cron2queue.runtime.database.driver import Driver
from cron2queue.runtime.database.exact import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_USES: Final = 5  # so often a statement is sent as it is, as psycopg does: who enqueues once has nothing from preparing it
_MOST: Final = 100  # different statements; with a clock of the caller's own none is ever the same


class Prepared:
    """What one connection has prepared."""

    def __init__(self, driver: Driver, raw: Any) -> None:
        self._driver = driver
        self._raw = raw
        self._uses: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._given_up = False

    def name(self, sql: str) -> str | None:
        """The name under which the statement is prepared, from its sixth use on."""
        found = self._names.get(sql)
        if found is None and not self._given_up:
            uses = self._uses.get(sql, 0)
            if uses == _USES:
                return self._prepare(sql)
            if uses or len(self._uses) < _MOST:
                self._uses[sql] = uses + 1
        return found

    def _prepare(self, sql: str) -> str | None:
        name = f"prepared_{digest(sql.encode())[:12].hex()}"  # behind a pooler others use it as well, for the same statement
        try:
            able = self._driver.can_prepare(self._raw)
            if able:
                self._driver.prepare(self._raw, name, sql)
        except Exception as error:
            if not self._driver.is_unprepared(error):
                raise
            able = False
        if not able:
            self.give_up()
            return None
        self._names[sql] = name
        return name

    def give_up(self) -> None:
        """Prepare nothing any more: something between here and the server loses what is prepared, or the server is full."""
        self._given_up = True
        self._names.clear()
