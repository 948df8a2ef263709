"""The contract of a dialect: what one cron daemon's rules are, declared, and how it reads a file."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar, NamedTuple

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.lines import Effect, Kind, Line
from cron2queue.discovery import member, module_names
from cron2queue.errors import UsageError
from cron2queue.record import Record

AUTO = "auto"
_FAMILY = "cron2queue.crontab.dialects"


class UnknownDialect(UsageError):
    """No cron daemon of that name is known."""


class FileFacts(NamedTuple):
    """What a daemon looks at before it reads a file: permission bits, owner, hard links, symbolic link and its owner."""

    mode: int
    uid: int
    links: int = 1
    symlink: bool = False
    link_uid: int = 0


class Context(Record):
    """What is known besides the text. `users`: names that exist on the host (None: not the host, so none is checked)."""

    kind: Kind
    user: str | None = None
    users: Collection[str] | None = None
    homes: Mapping[str, str] | None = None

    def home_of(self, user: str | None) -> str | None:
        """The user's home as far as known; root's is /root on every system in question."""
        if user is None:
            return None
        return (self.homes or {}).get(user, "/root" if user == "root" else None)


class Reading(NamedTuple):
    """What a dialect made of a file."""

    lines: tuple[Line, ...]
    loaded: bool = True
    why: str | None = None
    notes: tuple[str, ...] = ()
    zone: str | None = None


class Dialect(ABC):
    """One cron daemon. Everything below is declared by the member and shown in docs/reference/dialects.md."""

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    nicknames: ClassVar[tuple[str, ...]]
    star_rule: ClassVar[str]
    steps: ClassVar[str]
    reversed_ranges: ClassVar[str]
    random_ranges: ClassVar[bool] = False
    percent: ClassVar[bool] = True
    user_column: ClassVar[str]
    environment: ClassVar[str]
    zone_variables: ClassVar[tuple[str, ...]] = ()
    clock_rule: ClassVar[ClockRule]
    limits: ClassVar[str]
    names_rule: ClassVar[str]
    permissions: ClassVar[str]
    blast_radius: ClassVar[str]
    overlap: ClassVar[str]
    # Where it looks, below the root of the host.
    system_crontab: ClassVar[str | None] = "etc/crontab"
    system_folders: ClassVar[tuple[str, ...]] = ("etc/cron.d",)
    spool: ClassVar[tuple[str, ...]] = ()
    system_effect: ClassVar[Effect] = Effect.LINE
    user_effect: ClassVar[Effect] = Effect.LINE

    def effect(self, kind: Kind) -> Effect:
        """How far one bad line reaches."""
        return self.system_effect if kind is Kind.SYSTEM else self.user_effect

    @abstractmethod
    def read(self, data: bytes, context: Context) -> Reading:
        """Read the text as the daemon does; never raises, whatever the bytes."""

    @abstractmethod
    def ignores_name(self, name: str) -> str | None:
        """Why a file of that name in a system folder is not read, or None."""

    def refuses_system_file(self, facts: FileFacts) -> str | None:
        """Why a system crontab with these properties is not read, or None."""
        return None

    def refuses_user_file(self, facts: FileFacts, owner: int | None) -> str | None:
        """Why a spooled crontab with these properties is not read, or None; `owner` is the user's id where known."""
        return None


@functools.cache
def _dialect(module_name: str) -> Dialect:
    return member(_FAMILY, Dialect, module_name)()  # type: ignore[type-abstract]


def dialects() -> dict[str, Dialect]:
    """All dialects by name."""
    return {each.name: each for each in map(_dialect, module_names(_FAMILY))}


@functools.cache
def dialect_named(name: str) -> Dialect:
    """The dialect of that name; it alone is imported.

    Raises:
        UnknownDialect: there is none; the remedy names the nearest.
    """
    known = {module.replace("_", "-"): module for module in module_names(_FAMILY)}
    if name in known:
        return _dialect(known[name])
    import difflib  # only a mistake needs it

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UnknownDialect(f"unknown dialect: {name}", remedy=f"{hint}known are: {', '.join(sorted(known))}")
