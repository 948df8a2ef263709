"""Where a report goes: to standard output as it can take it, or into a file that is either the old one or the new."""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TextIO

from cron2queue.errors import UsageError, remedy_of

_AT_ONCE = 1000  # pieces


def _blocks(text: str | Iterable[str], encoding: str) -> Iterator[bytes]:
    """A text or its pieces as bytes, many pieces at once; characters that the encoding lacks become escapes."""
    pieces = iter([text] if isinstance(text, str) else text)
    while some := list(islice(pieces, _AT_ONCE)):
        yield "".join(some).encode(encoding, "backslashreplace")


def write_stdout(text: str | Iterable[str], stream: TextIO | None = None) -> bool:
    """Write all of it, a text or its pieces. False: nobody reads any more, which is no error.

    Raises:
        UsageError: standard output takes nothing, as on a full disk.
    """
    out = sys.stdout if stream is None else stream
    blocks = _blocks(text, out.encoding or "utf-8")
    try:
        for block in blocks:
            out.buffer.write(block)
        out.flush()
    except BrokenPipeError:
        silence(out)
        return False
    except OSError as error:
        silence(out)
        remedy = "free some space, or name another place with -o"
        raise UsageError(f"cannot be written: {error.strerror}", place="standard output", remedy=remedy) from error
    return True


def silence(out: TextIO) -> None:
    """Nobody reads any more: what is still buffered must not fail at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, out.fileno())
        os.close(nowhere)


def write_file(path: Path, text: str | Iterable[str]) -> None:
    """Write the file whole or not at all; a device or a pipe is written to directly.

    Raises:
        UsageError: the file cannot be written.
    """
    blocks = _blocks(text, "utf-8")
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with path.open("wb") as device:
                device.writelines(blocks)
        else:
            _replace(Path(os.path.realpath(path)), blocks)
    except OSError as error:
        remedy = remedy_of(error, "name a file in a folder that is there and that you may write to")
        raise UsageError(f"cannot be written: {error.strerror}", place=str(path), remedy=remedy) from error


def _replace(path: Path, blocks: Iterable[bytes]) -> None:
    import tempfile

    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(blocks)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """The mode of the file that is replaced, or what the umask leaves of 0666."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
