"""Files as blocks of whole lines, in bounded memory: whatever the file does, no more than a few megabytes are held.

A line longer than 64 KiB is cut there, and counted. A compressed file that grows beyond all measure is left at that
point: what came before is used, and the rest is named as skipped. So is what follows the damage in a broken file.
"""

import io
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import IO, cast

from cron2queue.evidence.inflating import ahead, gunzipped
from cron2queue.evidence.inputs import (
    LogFile,
    NotALog,
    compression_of,
    decompressed,
    opened,
    pieces,
    read_errors,
    refuse_binary,
)

BLOCK = 1 << 20
LONGEST_LINE = 64 << 10
_SNIFFED = 8 << 10
_ZEROS = re.compile(rb"\0+")
MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a compressed file may grow: `ratio` counts only once more than `slack` bytes came out of it."""

    ratio: int = 250
    slack: int = 64 << 20
    output: int = 64 << 30


@dataclass(slots=True)
class Tale:
    """What is to be told of the reading: parts skipped (with the reason) and bytes read, of the files as they lie."""

    skipped: list[str] = field(default_factory=list)
    bytes_read: int = 0
    long_lines: int = 0


class _Counted(io.RawIOBase):
    """The raw bytes of a file, counted as they are read, with the sniffed head put back in front."""

    def __init__(self, raw: IO[bytes], head: bytes, tale: Tale) -> None:
        self._raw = raw
        self._head = head
        self._tale = tale
        self.count = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._head or self._raw.read(size)
        self._head = b""
        if size >= 0 and len(data) > size:
            data, self._head = data[:size], data[size:]
        self.count += len(data)
        self._tale.bytes_read += len(data)
        return data

    def close(self) -> None:
        self._raw.close()
        super().close()


def blocks(file: LogFile, tale: Tale, limits: Limits) -> Generator[bytes, None, None]:
    """The file's lines in blocks, each beginning with a line feed and ending without one; never raises."""
    try:
        raw = opened(file)
    except (OSError, NotALog) as wrong:
        tale.skipped.append(f"{file.shown}: {_reason(wrong)}")
        return
    with raw:
        try:
            yield from whole_lines(_unpacked(raw, file, tale, limits), tale)
        except NotALog as wrong:
            tale.skipped.append(f"{file.shown}: {wrong}")
        except read_errors() as wrong:
            tale.skipped.append(f"{file.shown}: damaged ({_reason(wrong)}); what came before is used")


def _reason(wrong: Exception) -> str:
    return (wrong.strerror if isinstance(wrong, OSError) else None) or str(wrong) or type(wrong).__name__


def _unpacked(raw: IO[bytes], file: LogFile, tale: Tale, limits: Limits) -> Iterator[bytes]:
    head = raw.read(_SNIFFED)
    compression = compression_of(head)
    if compression is None:
        refuse_binary(head)
        counted = _Counted(raw, head, tale)
        return pieces(cast("IO[bytes]", counted), BLOCK)
    counted = _Counted(raw, head, tale)
    source = cast("IO[bytes]", counted)
    unpacked = gunzipped(source, BLOCK) if compression == "gz" else pieces(decompressed(source, compression), BLOCK)
    return _bounded(ahead(unpacked), counted, file, limits)


def _bounded(stream: Iterator[bytes], counted: _Counted, file: LogFile, limits: Limits) -> Iterator[bytes]:
    total = 0
    for piece in stream:
        if not total:
            refuse_binary(piece[:_SNIFFED])
        total += len(piece)
        if total > limits.output or (total > limits.slack and total > counted.count * limits.ratio):
            raise NotALog(f"grows more than {limits.ratio} times or beyond {limits.output >> 30} GiB; the rest is skipped")
        yield piece


def cleaned(text: bytes) -> bytes:
    """The text with each run of zero bytes, as a crash leaves it, as the end of a line."""
    return _ZEROS.sub(b"\n", text) if b"\0" in text else text


def marked(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The stream without the mark of its encoding that some programs put in front."""
    for piece in stream:
        yield piece.removeprefix(MARK)
        break
    yield from stream


def whole_lines(stream: Iterator[bytes], tale: Tale) -> Iterator[bytes]:
    """Pieces made into blocks of whole lines, each beginning with a line feed and ending without one."""
    carry, dropping = b"\n", False
    for piece in map(cleaned, marked(stream)):
        if dropping:
            end = piece.find(b"\n")
            if end < 0:
                continue
            piece, dropping = piece[end:], False
        data = carry + piece
        end = data.rfind(b"\n")
        if end > 0:
            yield data[:end]
        carry = data[end:]
        if len(carry) > LONGEST_LINE:
            carry, dropping = carry[:LONGEST_LINE], True
            tale.long_lines += 1
    if len(carry) > 1:
        yield carry
