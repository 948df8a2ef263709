"""gzip files read in large pieces, and reading ahead in a thread: while we look at a piece, zlib makes the next one.

The standard gzip module works in pieces of 8 KiB, between which the thread would wait for the interpreter each time.
"""

import queue
import threading
import zlib
from collections.abc import Iterator
from typing import IO

_READ = 256 << 10
_GZIP = 31  # window bits of a gzip header
_AHEAD = 3
_MAGIC = b"\x1f\x8b"


def gunzipped(raw: IO[bytes], size: int) -> Iterator[bytes]:
    """The text in pieces of up to `size` bytes, of all members of the file.

    Raises zlib.error for what is damaged and EOFError for what is cut off, after all that comes before the damage.
    """
    held = raw.read(_READ)
    while held:
        member = zlib.decompressobj(_GZIP)
        while held and not member.eof:
            piece = member.decompress(held, size)
            held = member.unconsumed_tail or (b"" if member.eof else raw.read(_READ))
            if piece:
                yield piece
        if not member.eof:
            rest = member.flush()
            if rest:
                yield rest
        if not member.eof:
            raise EOFError("it is cut off")
        held = _next_member(raw, member.unused_data)


def _next_member(raw: IO[bytes], held: bytes) -> bytes:
    """What follows a member: another one, zero bytes up to the end, or the end."""
    while len(held := held.lstrip(b"\x00")) < len(_MAGIC):
        more = raw.read(_READ)
        if not more:
            break
        held += more
    if held and not held.startswith(_MAGIC):
        raise zlib.error("something else follows the compressed text")
    return held


def ahead(source: Iterator[bytes]) -> Iterator[bytes]:
    """The same pieces, made by a thread that is a few of them ahead; it ends with us."""
    ready: queue.Queue[bytes | BaseException | None] = queue.Queue(_AHEAD)
    given_up = threading.Event()

    def work() -> None:
        last: BaseException | None = None
        try:
            for piece in source:
                ready.put(piece)
                if given_up.is_set():
                    return
        except BaseException as wrong:  # told to whoever reads, who raises it
            last = wrong
        ready.put(last)

    thread = threading.Thread(target=work, name="reading ahead", daemon=True)
    thread.start()
    try:
        while isinstance(piece := ready.get(), bytes):
            yield piece
    finally:
        given_up.set()
        while thread.is_alive():
            _emptied(ready)
            thread.join(0.01)
    if piece is not None:
        raise piece


def _emptied(ready: "queue.Queue[bytes | BaseException | None]") -> None:
    """Let the thread put down what it holds."""
    try:
        while True:
            ready.get_nowait()
    except queue.Empty:
        return
