"""What supervisor and child say to each other: messages with a length before each, over socket pairs.

What comes from a child is JSON, since a handler may have written anything into its socket. What goes to one is in the form that
Python keeps compiled modules in: it takes a third of the time, the same interpreter is at both ends, and a child has no reason
to doubt the supervisor.
"""

import json
import marshal
import mmap
import os
import socket
import struct
from collections.abc import Callable
from typing import Any

_LENGTH = struct.Struct("!I")
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_json = json.JSONDecoder().raw_decode
_MARSHAL = 2  # the version before objects were looked up to be written once: to look costs more than to write
_CHUNK = 64 * 1024  # malloc(3) maps pages for 128 KiB and more, and unmaps them: that took ten times as long as the reading


def encoded(message: object) -> bytes:
    """One message as it goes over the wire."""
    body = _encode(message).encode("ascii")
    return _LENGTH.pack(len(body)) + body


def handed(message: object) -> bytes:
    """One message for a child: of plain types, no subclass among them."""
    body = marshal.dumps(message, _MARSHAL)  # type: ignore[arg-type]
    return _LENGTH.pack(len(body)) + body


def _decoded(body: bytes | bytearray) -> Any:
    return _json(body.decode("ascii"))[0]


class Inbox:
    """Puts messages together from whatever pieces arrive; `decode` is for what `encoded` made, unless said otherwise."""

    __slots__ = ("_decode", "_rest")

    def __init__(self, decode: Callable[[bytes | bytearray], Any] = _decoded) -> None:
        self._decode = decode
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        """Take bytes; each message that is complete now. Most arrive whole, and are read where they are."""
        if not self._rest:
            messages, end = self._whole(data)
            self._rest += data[end:]
            return messages
        self._rest += data
        messages, end = self._whole(self._rest)
        del self._rest[:end]
        return messages

    def _whole(self, data: bytes | bytearray) -> tuple[list[Any], int]:
        """The messages that are there from their first to their last byte, and where the last one ends."""
        messages: list[Any] = []
        start = 0
        while len(data) >= (begin := start + _LENGTH.size):
            (length,) = _LENGTH.unpack_from(data, start)
            if len(data) < begin + length:
                break
            start = begin + length
            messages.append(self._decode(data[begin:start]))
        return messages, start


class BlockingChannel:
    """The child's end: waits for the next message, and waits until its own have gone."""

    __slots__ = ("_inbox", "_ready", "socket")

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(True)
        self.socket = end
        self._inbox = Inbox(marshal.loads)
        self._ready: list[Any] = []

    def receive(self) -> Any | None:
        """The next message that `handed` made; None when the other side is gone."""
        while not self._ready:
            try:
                data = self.socket.recv(_CHUNK)
            except ConnectionError:
                return None
            if not data:
                return None
            self._ready.extend(self._inbox.feed(data))
        return self._ready.pop(0)

    def send(self, data: bytes) -> None:
        """Send what `encoded` made. Raises OSError when the other side is gone."""
        self.socket.sendall(data)


class Channel:
    """The supervisor's end: never waits; what cannot go now is kept and goes on `flush`."""

    __slots__ = ("_inbox", "_waiting", "closed", "socket")

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self.socket = end
        self._inbox = Inbox()
        self._waiting = bytearray()
        self.closed = False

    def send(self, data: bytes) -> bool:
        """Send, or keep for later; True when all is gone already."""
        self._waiting += data
        return self.flush()

    @property
    def is_behind(self) -> bool:
        """Whether something is kept that could not go yet."""
        return bool(self._waiting) and not self.closed

    def flush(self) -> bool:
        """Send what was kept; True when nothing is left."""
        while self._waiting and not self.closed:
            try:
                gone = self.socket.send(self._waiting)
            except BlockingIOError:
                return False
            except OSError:
                self.closed = True
                break
            del self._waiting[:gone]
        return True

    def receive(self) -> list[Any]:
        """Every message that has arrived; `closed` is set when the other side is gone."""
        messages: list[Any] = []
        while not self.closed:
            try:
                data = self.socket.recv(_CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.closed = True
                break
            messages.extend(self._inbox.feed(data))
            if len(data) < _CHUNK:
                break
        return messages

    def close(self) -> None:
        """Close this end; the child takes it as the end of its work."""
        self.closed = True
        self.socket.close()


class Pulse:
    """A page that child and supervisor share: how many jobs the child has begun, and when the last one began.

    It costs the child a few stores a job instead of a message, and survives the child's death: then it tells which jobs
    of a group had begun, and which of them were done although their answers had not gone yet.
    """

    KEPT = 1024  # more than a child is ever given ahead
    SIZE = 16 + 8 * KEPT
    _BEGUN = struct.Struct("=q")
    _AT = struct.Struct("=d")
    __slots__ = ("_last", "_page")

    def __init__(self, descriptor: int) -> None:
        self._page = mmap.mmap(descriptor, self.SIZE)
        self._last = (0, 0.0)  # what stays to be read after close, for a thread that is a moment late

    @staticmethod
    def create() -> int:
        """A descriptor for a new page; both sides map it, and then close it."""
        descriptor = os.memfd_create("cron2queue-pulse", os.MFD_CLOEXEC)
        os.ftruncate(descriptor, Pulse.SIZE)
        return descriptor

    def begin(self, count: int, now: float) -> None:
        """The child begins its job number `count` at `now` (CLOCK_MONOTONIC, the same in all processes)."""
        self._AT.pack_into(self._page, self._place(count), -1.0)
        self._AT.pack_into(self._page, 8, now)
        self._BEGUN.pack_into(self._page, 0, count)

    def done(self, count: int, seconds: float) -> None:
        """The child has done its job number `count`, with nothing to say about it."""
        self._AT.pack_into(self._page, self._place(count), seconds)

    def done_in(self, count: int) -> float | None:
        """In how many seconds job number `count` was done; None if it was not, or has more to say."""
        try:
            seconds = float(self._AT.unpack_from(self._page, self._place(count))[0])
        except ValueError:
            return None
        return seconds if seconds >= 0 and count <= self.begun else None

    def _place(self, count: int) -> int:
        return 16 + 8 * (count % self.KEPT)

    @property
    def begun(self) -> int:
        """How many jobs have begun since the child started."""
        return self._read()[0]

    @property
    def began_at(self) -> float:
        """When the last of them began."""
        return self._read()[1]

    def _read(self) -> tuple[int, float]:
        try:
            return int(self._BEGUN.unpack_from(self._page, 0)[0]), float(self._AT.unpack_from(self._page, 8)[0])
        except ValueError:
            return self._last

    def close(self) -> None:
        """Unmap the page."""
        self._last = self._read()
        self._page.close()
