"""Hints from producers to workers of the same host: a datagram that says "look now", and nothing else.

A lost hint costs at most one polling interval; a forged one costs one look. The names are abstract sockets (unix(7)):
no file is left behind, and none has to be found.
"""

import hashlib
import os
import socket
from contextlib import suppress

from cron2queue.runtime.database.address import Address

NOTIFY = "NOTIFY {jobs}"  # PostgreSQL: the channel has the name of the table
LISTEN = "LISTEN {jobs}"
PLACES = 8  # so many workers of one database can be woken on a host; further ones poll
_LOCAL = frozenset({None, "", "localhost", "127.0.0.1", "::1"})


def is_local(address: Address) -> bool:
    """Whether the server is on this host, as far as its address tells; then datagrams reach all who could be meant."""
    return address.host in _LOCAL or str(address.host).startswith("/")


def wakeup_names(address: Address, prefix: str) -> list[str]:
    """The abstract names that workers of this database and prefix listen on."""
    if address.family == "sqlite":
        where = os.path.realpath(address.database)
    else:
        host = "localhost" if address.host in _LOCAL else str(address.host)
        where = f"{host}:{address.port or ''}/{address.database}"
    digest = hashlib.sha256(f"{address.family}\0{where}\0{prefix}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return [f"\0cron2queue/{digest}/{place}" for place in range(PLACES)]


class Waker:
    """The producer's end; made once, used after each commit that made a job ready."""

    def __init__(self, address: Address, prefix: str) -> None:
        self._names = wakeup_names(address, prefix)
        self._pid = 0
        self._socket: socket.socket | None = None

    def wake(self) -> None:
        """Tell every worker that listens. Never waits, never fails."""
        if self._socket is None or self._pid != os.getpid():
            self._socket, self._pid = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK), os.getpid()
        for name in self._names:
            with suppress(OSError):
                self._socket.sendto(b"1", name)

    def close(self) -> None:
        """Let the socket go."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def listen(address: Address, prefix: str) -> socket.socket | None:
    """The worker's end, in the first place that is free; None when all are taken."""
    end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    for name in wakeup_names(address, prefix):
        try:
            end.bind(name)
        except OSError:
            continue
        return end
    end.close()
    return None
