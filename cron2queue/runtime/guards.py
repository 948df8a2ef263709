"""Guard rails: what a server and a session really are, and what of it would break a promise."""

import os
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cron2queue.runtime import room
from cron2queue.runtime.backend import Backend
from cron2queue.runtime.database.session import Session, Sessions
from cron2queue.runtime.room import Room
from cron2queue.runtime.trouble import UnsafeDatabase

_NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "fuse.glusterfs", "lustre"}
)
_ALIVE_MICROS: Final = 120_000_000
_SPARE: Final = 2  # a producer and somebody who looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing that would break a promise, and what to do."""

    message: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a session has found. Values are the server's own words; None where it has no such thing."""

    backend: str
    version: str
    isolation: str | None = None
    charset: str | None = None
    time_zone: str | None = None
    sql_mode: str | None = None
    durability: str | None = None
    bounds: tuple[Room, ...] = ()
    file_system: str | None = None
    foreign_host: str | None = None
    refusals: tuple[Trouble, ...] = ()
    warnings: tuple[Trouble, ...] = ()

    @property
    def connections(self) -> int | None:
        """All that are open at the server, as far as this user may know, this one included."""
        return self.bounds[0].used + 1 if self.bounds else None


def facts(sessions: Sessions, backend: Backend) -> ServerFacts:
    """Ask the server and judge its answers."""
    read = {"sqlite": _sqlite, "mysql": _mysql, "postgresql": _postgresql}[sessions.driver.family]
    return sessions.read(lambda session: read(session, backend))


def refuse(found: ServerFacts, *, connections_needed: int = 1) -> None:
    """Raise UnsafeDatabase for the first refusal; connections that are in use already are counted in."""
    troubles = list(found.refusals)
    troubles += (too_few(bound, connections_needed) for bound in tightest(found.bounds) if connections_needed > bound.free)
    if troubles:
        raise UnsafeDatabase(troubles[0].message, remedy=troubles[0].remedy)


def tightest(bounds: Iterable[Room]) -> tuple[Room, ...]:
    """The bound that counts, if there is any."""
    return tuple(sorted(bounds, key=lambda bound: bound.free)[:1])


def _crowded(bounds: Iterable[Room]) -> tuple[Trouble, ...]:
    """Said by `check` before a producer finds no connection."""
    return tuple(
        Trouble(message=f"{bound.used} of {bound.most} connections are in use by others", remedy=f"raise {bound.bound}")
        for bound in tightest(bounds)
        if bound.free <= _SPARE
    )


def too_few(bound: Room, needed: int) -> Trouble:
    """Said when the server cannot give the connections that are needed."""
    return Trouble(
        message=f"{needed} connections are needed, {bound.used} of {bound.most} are in use",
        remedy=f"raise {bound.bound}, or start fewer workers and children",
    )


def _collect(checks: Iterable[Callable[[], Trouble | None]]) -> tuple[Trouble, ...]:
    return tuple(trouble for check in checks if (trouble := check()) is not None)


def _version_trouble(backend: Backend, version: str) -> Trouble | None:
    why = backend.check_server(version)
    return (
        None if why is None else Trouble(message=why, remedy="upgrade the server: older ones have no SKIP LOCKED or RETURNING")
    )


# ---- SQLite


def _sqlite(session: Session, backend: Backend) -> ServerFacts:
    _, version = session.driver.server(session.raw)
    file = session.driver.address.database
    kind = file_system_of(file)
    journal = str(session.value("PRAGMA journal_mode"))
    synchronous = int(session.value("PRAGMA synchronous"))
    foreign = _foreign_host(session)
    refusals = _collect(
        (
            lambda: _version_trouble(backend, version),
            lambda: _network_trouble(file, kind),
            lambda: _host_trouble(file, foreign),
            lambda: _journal_trouble(journal),
        )
    )
    weak = Trouble(
        message="synchronous=NORMAL: a power cut may lose the last acknowledged jobs",
        remedy="leave synchronous out of the URL",
    )
    return ServerFacts(
        backend=backend.name, version=version, charset="UTF-8", file_system=kind, foreign_host=foreign, refusals=refusals,
        durability=f"journal_mode={journal} synchronous={synchronous}", warnings=() if synchronous >= 2 else (weak,),
    )  # fmt: skip


def file_system_of(file: str, mounts: str = "/proc/self/mounts") -> str | None:
    """The type of the file system on which a file lies; None where that cannot be told."""
    path = os.path.realpath(file)
    best: tuple[int, str | None] = (-1, None)
    try:
        for line in Path(mounts).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            point, kind = line.split(" ")[1:3]
            point = point.replace("\\040", " ").rstrip("/")
            if (path + "/").startswith(point + "/") and len(point) >= best[0]:
                best = (len(point), kind)
    except OSError:
        return None
    return best[1]


def _network_trouble(file: str, kind: str | None) -> Trouble | None:
    if kind is None or kind not in _NETWORK:
        return None
    return Trouble(
        message=f"{file} lies on a network file system ({kind}), where SQLite's locks do not hold",
        remedy="put the file on a local disk, or use MySQL, MariaDB or PostgreSQL",
    )


def _host_trouble(file: str, foreign: str | None) -> Trouble | None:
    if foreign is None:
        return None
    return Trouble(
        message=f"{file} is in use from host {foreign} as well; a SQLite file serves one host",
        remedy="use MySQL, MariaDB or PostgreSQL for several hosts; if its workers are stopped, try again in two minutes",
    )


def _journal_trouble(journal: str) -> Trouble | None:
    if journal.lower() == "wal":
        return None
    return Trouble(
        message=f"the journal mode is {journal}, not WAL: workers and producers would block each other",
        remedy="put the file on a local disk that supports shared memory",
    )


def _foreign_host(session: Session) -> str | None:
    """A host from which another kernel's workers have beaten a moment ago.

    Containers of one host have names of their own and one kernel; a host that was started anew keeps its name.
    """
    owner = session.value("SELECT host FROM {controls} WHERE id = 1")
    if owner is None or str(owner).rpartition(" ")[2] == boot_id():
        return None
    query = "SELECT host FROM {workers} WHERE host <> ? AND beat_at > {now} - ? ORDER BY beat_at DESC LIMIT 1"
    return session.value(query, (socket.gethostname(), _ALIVE_MICROS))  # type: ignore[no-any-return]


def boot_id() -> str:
    """What tells one running kernel from every other."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return socket.gethostname()


def claim_file(sessions: Sessions) -> None:
    """SQLite: write down which host uses the file."""
    if sessions.driver.family != "sqlite":
        return
    mine = f"{socket.gethostname()} {boot_id()}"
    if sessions.read(lambda session: session.value("SELECT host FROM {controls} WHERE id = 1")) != mine:
        sessions.unit(lambda session: session.changed("UPDATE {controls} SET host = ? WHERE id = 1", (mine,)))


# ---- MySQL and MariaDB


def _variables(session: Session, *names: str) -> dict[str, str]:
    some = ", ".join(["?"] * len(names))
    rows = session.rows(f"SHOW VARIABLES WHERE Variable_name IN ({some})", names)
    return {str(row[0]): str(row[1]) for row in rows}


def _mysql(session: Session, backend: Backend) -> ServerFacts:
    name, version = session.driver.server(session.raw)
    found = _variables(
        session, "transaction_isolation", "tx_isolation", "character_set_connection", "time_zone", "sql_mode",
        "innodb_flush_log_at_trx_commit", "sync_binlog", "binlog_format", "log_bin",
    )  # fmt: skip
    isolation = found.get("transaction_isolation") or found.get("tx_isolation")
    flush = found.get("innodb_flush_log_at_trx_commit")
    refusals = _collect(
        (
            lambda: _version_trouble(backend, version),
            lambda: _isolation_trouble(isolation, "READ-COMMITTED"),
            lambda: _charset_trouble(found.get("character_set_connection"), "utf8mb4"),
            lambda: _table_charset_trouble(session),
            lambda: _strict_trouble(found.get("sql_mode", "")),
            lambda: _binlog_trouble(found),
        )
    )
    bounds = room.of_mysql(session)
    weak = Trouble(
        message=f"innodb_flush_log_at_trx_commit={flush}: a power cut may lose the last acknowledged jobs",
        remedy="set it to 1",
    )
    return ServerFacts(
        backend=name if backend.name == "base" else backend.name, version=version, isolation=isolation, refusals=refusals,
        charset=found.get("character_set_connection"), time_zone=found.get("time_zone"), sql_mode=found.get("sql_mode"),
        durability=f"innodb_flush_log_at_trx_commit={flush}", bounds=bounds,
        warnings=(*(() if flush == "1" else (weak,)), *_crowded(bounds)),
    )  # fmt: skip


def _isolation_trouble(isolation: str | None, wanted: str) -> Trouble | None:
    if isolation is not None and isolation.upper() == wanted:
        return None
    return Trouble(
        message=f"the isolation level of the session is {isolation}, not {wanted}",
        remedy="look for a proxy or init_connect that changes the session's settings",
    )


def _charset_trouble(charset: str | None, wanted: str) -> Trouble | None:
    if charset is not None and charset.lower() == wanted:
        return None
    remedy = f"use {wanted}: in any other some texts cannot be stored"
    return Trouble(message=f"the character set is {charset}, not {wanted}", remedy=remedy)


def _table_charset_trouble(session: Session) -> Trouble | None:
    """A table made by hand in another character set loses texts, whatever the session says."""
    query = (
        "SELECT table_name, column_name, character_set_name FROM information_schema.columns WHERE table_schema = DATABASE() "
        "AND table_name = ? AND column_name IN ('payload', 'message') AND character_set_name <> 'utf8mb4'"
    )
    table = session.sql("{jobs}")
    wrong = session.row(query, (table,))
    if wrong is None:
        return None
    return Trouble(
        message=f"column {wrong[1]} of {wrong[0]} is stored in {wrong[2]}, which cannot hold every text",
        remedy=f"ALTER TABLE {wrong[0]} CONVERT is not enough; make the tables with: cron2queue migrate up",
    )


def _strict_trouble(mode: str) -> Trouble | None:
    if "STRICT_TRANS_TABLES" in mode or "STRICT_ALL_TABLES" in mode:
        return None
    return Trouble(
        message="the session is not strict: the server would cut values in silence",
        remedy="look for a proxy or init_connect that changes sql_mode",
    )


def _binlog_trouble(found: dict[str, Any]) -> Trouble | None:
    if found.get("log_bin", "OFF") not in ("ON", "1") or found.get("binlog_format", "ROW") != "STATEMENT":
        return None
    return Trouble(
        message="the binary log is written by STATEMENT, which READ COMMITTED does not allow",
        remedy="set binlog_format=ROW (or MIXED)",
    )


# ---- PostgreSQL


def _postgresql(session: Session, backend: Backend) -> ServerFacts:
    _, version = session.driver.server(session.raw)
    names = ("transaction_isolation", "server_encoding", "TimeZone", "synchronous_commit", "fsync")
    isolation, charset, zone, commit, fsync = (str(session.value(f"SHOW {name}")) for name in names)
    refusals = _collect(
        (
            lambda: _version_trouble(backend, version),
            lambda: _isolation_trouble(isolation.replace(" ", "-"), "READ-COMMITTED"),
            lambda: _charset_trouble(charset, "utf8"),
        )
    )
    bounds = room.of_postgresql(session)
    weak = Trouble(message=f"synchronous_commit={commit}, fsync={fsync}: a power cut may lose jobs", remedy="set both to on")
    safe = fsync == "on" and commit not in ("off", "local")
    return ServerFacts(
        backend=backend.name, version=version, isolation=isolation, charset=charset, time_zone=zone, refusals=refusals,
        durability=f"synchronous_commit={commit} fsync={fsync}", bounds=bounds,
        warnings=(*(() if safe else (weak,)), *_crowded(bounds)),
    )  # fmt: skip
