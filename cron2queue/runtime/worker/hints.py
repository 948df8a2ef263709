"""What wakes the pump before its next look: datagrams of producers on this host, writes to the SQLite file."""

import ctypes
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cron2queue.errors import Cron2QueueError
from cron2queue.runtime.database.address import Address
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.database.wakeups import LISTEN, listen
from cron2queue.runtime.store import Store

log = logging.getLogger("cron2queue.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A descriptor to watch, and what empties it. `early`: it comes before the commit that it tells of, and of own writes."""

    descriptor: int
    drain: Callable[[], None]
    early: bool = False


_IN_MODIFY = 0x2
_IN_CREATE = 0x100
_IN_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC


class HintLost(Exception):
    """The hint will not come any more; polling goes on."""


def hints_for(address: Address, prefix: str, store: Store | None = None) -> list[Hint]:
    """All hints that this host and database offer; polling stays beside them."""
    found: list[Hint] = []
    if store is not None and (notice := notifications(store)) is not None:
        found.append(notice)
    if (end := listen(address, prefix)) is not None:
        found.append(_hint(end.detach()))
    if address.family == "sqlite" and address.database:
        if store is not None:
            _keep_log_open(store)
        descriptor = watch_writes(Path(address.database + "-wal"))
        if descriptor is not None:
            found.append(_hint(descriptor, early=True))
    return found


def _keep_log_open(store: Store) -> None:
    """The write-ahead log lives as long as some connection: without one it would be another file tomorrow."""
    _prepared(store, lambda session: session.value("SELECT version FROM {controls} WHERE id = 1"))


def _prepared(store: Store, prepare: Callable[[Session], object]) -> Session | None:
    """A connection for hints alone; None when the database is away just now, since a hint is not worth a worker's end."""
    session: Session | None = None
    try:
        session = store.sessions.open()
        prepare(session)
    except Exception as error:
        if not (isinstance(error, Cron2QueueError) or store.driver.is_own(error)):
            raise
        log.warning("the database gives no hints; this worker polls")
        if session is not None:
            store.sessions.drop(session)
        return None
    return session


def notifications(store: Store) -> Hint | None:
    """A connection of its own that hears PostgreSQL's NOTIFY, from producers on any host; None without one."""
    if store.driver.family != "postgresql":
        return None
    session = _prepared(store, lambda session: session.run(LISTEN))
    if session is None:
        return None
    return Hint(descriptor=session.raw.fileno(), drain=partial(_take_notices, session))


def _take_notices(session: Session) -> None:
    connection = session.raw.pgconn
    try:
        connection.consume_input()
        while connection.notifies() is not None:
            pass
    except Exception as error:
        if not session.driver.is_own(error):
            raise
        raise HintLost from error


def _hint(descriptor: int, *, early: bool = False) -> Hint:
    return Hint(descriptor=descriptor, drain=partial(_drain, descriptor), early=early)


def watch_writes(path: Path) -> int | None:
    """An inotify(7) descriptor that becomes readable when the file is written to; None where there is no inotify."""
    if not os.path.exists(path):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.inotify_init1(_IN_NONBLOCK_CLOEXEC)
    if descriptor < 0:
        return None
    if libc.inotify_add_watch(descriptor, os.fsencode(path), _IN_MODIFY | _IN_CREATE) < 0:
        os.close(descriptor)
        return None
    return descriptor


def _drain(descriptor: int) -> None:
    with suppress(BlockingIOError):
        while os.read(descriptor, 65536):
            pass
