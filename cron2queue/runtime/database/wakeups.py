"""Hints from producers to workers of the same host: a datagram that says "look now", and nothing else.

A lost hint costs at most one polling interval; a forged one costs one look. The names are abstract sockets (unix(7)):
no file is left behind, and none has to be found.
"""

import _socket  # what `socket` is made of, which takes a producer longer to load than all else that it does
import os
import time

from cron2queue.runtime.database.address import Address

NOTIFY = "NOTIFY {jobs}"  # PostgreSQL: the channel has the name of the table
LISTEN = "LISTEN {jobs}"
ANEW_SECONDS = 0.05  # so long a producer in a hurry leaves out the places where nobody was
PLACES = 8  # so many workers of one database can be woken on a host; further ones poll
_LOCAL = frozenset({None, "", "localhost", "127.0.0.1", "::1"})


def is_local(address: Address) -> bool:
    """Whether the server is on this host, as far as its address tells; then datagrams reach all who could be meant."""
    return address.host in _LOCAL or str(address.host).startswith("/")


def wakeup_names(address: Address, prefix: str) -> list[str]:
    """The abstract names that workers of this database and prefix listen on; none for a file that is not there."""
    where = _file(address.database) if address.family == "sqlite" else _server(address)
    return [f"\0cron2queue/{where}/{prefix}/{place}" for place in range(PLACES)] if where else []


def _file(path: str) -> str:
    """Which file it is, however its name is written."""
    try:
        found = os.stat(path)  # noqa: PTH116 - on every producer's way, where pathlib is dear
    except OSError:
        return ""
    return f"{found.st_dev:x}-{found.st_ino:x}"


def _server(address: Address) -> str:
    import hashlib

    host = "localhost" if address.host in _LOCAL else str(address.host)
    where = f"{address.family}\0{host}:{address.port or ''}/{address.database}"
    return hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:24]


class Waker:
    """The producer's end; made once, used after each commit that made a job ready."""

    def __init__(self, address: Address, prefix: str) -> None:
        self._names = self._there = wakeup_names(address, prefix)
        self._asked_all = float("-inf")
        self._pid = 0
        self._socket: _socket.socket | None = None

    def wake(self) -> None:
        """Tell every worker that listens. Never waits, never fails."""
        try:
            end = self._own_socket()
        except OSError:  # no descriptor left
            return
        now = time.monotonic()
        if now - self._asked_all >= ANEW_SECONDS:
            self._there, self._asked_all = [name for name in self._names if _reaches(end, name)], now
        else:
            for name in self._there:
                _reaches(end, name)

    def _own_socket(self) -> _socket.socket:
        if self._socket is None or self._pid != os.getpid():
            self._socket, self._pid = _new_socket(), os.getpid()
        return self._socket

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Let the socket go."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _reaches(end: _socket.socket, name: str) -> bool:
    """Send; whether somebody listens there, even one who has not read the last ones yet."""
    try:
        end.sendto(b"1", name)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


def listen(address: Address, prefix: str) -> _socket.socket | None:
    """The worker's end, in the first place that is free; None when all are taken."""
    end = _new_socket()
    for name in wakeup_names(address, prefix):
        try:
            end.bind(name)
        except OSError:
            continue
        return end
    end.close()
    return None


def _new_socket() -> _socket.socket:
    return _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM | _socket.SOCK_NONBLOCK | _socket.SOCK_CLOEXEC)
