"""Which files are read, in which order, and how each is opened: rotated sets, compressed files, what is no log at all."""

import bz2
import io
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

_COMPRESSED = re.compile(r"\.(gz|xz|zst|bz2|lzma|Z)$")
_NUMBERED = re.compile(r"^(?P<stem>.+?)\.(?P<number>\d{1,5})$")
_DATED = re.compile(r"^(?P<stem>.+?)[-.](?P<date>\d{8}(?:-?\d{2,6})?|\d{4}-\d\d-\d\d(?:-\d{1,6})?)$")
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gz"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"BZh", "bz2"),
)
_NOT_LOGS: tuple[tuple[bytes, str], ...] = (
    (b"LPKSHHRH", "a binary journal; export it: journalctl -o json --all --file FILE"),
    (b"__CURSOR=", "a journal in the export format; give the JSON of the same: journalctl -o json --all"),
    (b"SQLite format 3\x00", "a database; give recordings with --observations"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
    (b"\x7fELF", "a program"),
)
_DEEPEST = 3


class NotALog(Exception):
    """The file cannot be read as a log; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """One file of a set. `end` is a wall time that its last line cannot be later than, where the name or mtime says."""

    path: Path
    size: int
    end: datetime | None = None
    dated: bool = False
    """The name itself tells the end."""
    live: bool = False
    """Ask journalctl(1) instead of reading a file."""

    @property
    def shown(self) -> str:
        """The name in reports."""
        return "journalctl" if self.live else str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSet:
    """One log with its rotated files, oldest first."""

    stem: str
    files: tuple[LogFile, ...]


@dataclass(slots=True)
class _Found:
    files: dict[tuple[str, str], list[tuple[tuple[int, str], LogFile]]] = field(default_factory=dict)
    seen: set[tuple[int, int]] = field(default_factory=set)
    skipped: list[str] = field(default_factory=list)


def log_sets(paths: Iterable[Path]) -> tuple[tuple[LogSet, ...], tuple[str, ...]]:
    """The sets that these files and folders hold, and what was left out, with the reason.

    A folder is read three levels deep; what is given twice is read once. Devices, pipes and sockets are refused, since
    reading them may never end.
    """
    found = _Found()
    for path in paths:
        _collect(path, found, depth=0)
    sets = tuple(
        LogSet(stem=stem, files=tuple(file for _, file in sorted(files, key=lambda each: each[0])))
        for (_, stem), files in sorted(found.files.items())
    )
    return sets, tuple(found.skipped)


def _collect(path: Path, found: _Found, *, depth: int) -> None:
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            _collect_folder(path, found, depth=depth)
        elif not stat.S_ISREG(facts.st_mode):
            found.skipped.append(f"{path}: not a regular file")
        elif (facts.st_dev, facts.st_ino) not in found.seen:
            found.seen.add((facts.st_dev, facts.st_ino))
            _add(path, facts, found)
    except OSError as wrong:
        found.skipped.append(f"{path}: {wrong.strerror or wrong}")


def _collect_folder(path: Path, found: _Found, *, depth: int) -> None:
    if depth >= _DEEPEST:
        found.skipped.append(f"{path}: more than {_DEEPEST} folders deep")
        return
    for each in sorted(path.iterdir()):
        if not each.name.startswith("."):
            _collect(each, found, depth=depth + 1)


def _add(path: Path, facts: os.stat_result, found: _Found) -> None:
    stem, order, dated = _rotation(path.name)
    modified = datetime.fromtimestamp(facts.st_mtime)
    end = min(dated, modified) if dated else modified
    file = LogFile(path=path, size=facts.st_size, end=end, dated=dated is not None)
    found.files.setdefault((str(path.parent), stem), []).append((order, file))


def _rotation(name: str) -> tuple[str, tuple[int, str], datetime | None]:
    """The log's own name, a key that sorts oldest first, and the day of the rotation, if the name tells."""
    bare = _COMPRESSED.sub("", name)
    dated = _DATED.match(bare)
    if dated:
        digits = dated["date"].replace("-", "")
        return dated["stem"], (1, digits), _day_after(digits)
    numbered = _NUMBERED.match(bare)
    if numbered:
        return numbered["stem"], (0, f"{100_000 - int(numbered['number']):06}"), None
    return bare, (2, ""), None


def _day_after(digits: str) -> datetime | None:
    try:
        return datetime.strptime(digits[:8], "%Y%m%d").replace(hour=23, minute=59)
    except ValueError:
        return None


def compression_of(head: bytes) -> str | None:
    """The name of the compression, or None for plain text; raises NotALog for what is neither."""
    for magic, why in _NOT_LOGS:
        if head.startswith(magic):
            raise NotALog(why)
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    return None


def refuse_binary(head: bytes) -> None:
    """Raises NotALog when this is not text; a run of zero bytes, as a crash leaves it, is no reason."""
    text = head.replace(b"\x00", b"")
    strange = sum(1 for byte in text if byte < 32 and byte not in (9, 10, 13, 27))
    if strange > len(text) * 0.1:
        raise NotALog("a binary file")


_JOURNALCTL = ("journalctl", "--no-pager", "--quiet")
_IDENTIFIERS = ("CRON", "CROND", "cron", "crond", "crontab", "anacron", "systemd-journald")
_CRON_UNIT = re.compile(r"cron-[^/\s]{1,200}\.service")
_MOST_UNITS = 3_000


def opened(file: LogFile) -> IO[bytes]:
    """The raw bytes of a file. A pipe that took the file's place since it was found does not hang us."""
    if file.live:
        return _asked()
    descriptor = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotALog("not a regular file")
    return os.fdopen(descriptor, "rb", buffering=0)


class _Asked(io.RawIOBase):
    """What a program prints; closing it ends the program."""

    def __init__(self, words: list[str]) -> None:
        quiet = subprocess.DEVNULL
        self._running = subprocess.Popen(words, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet)
        self._output = cast("IO[bytes]", self._running.stdout)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._output.read(size)

    def close(self) -> None:
        if not self.closed:
            self._output.close()
            self._running.wait()
        super().close()


def _asked() -> IO[bytes]:
    """What cron daemons say, and of each unit of systemd-cron what systemd says of it and what it writes itself.

    Given as matches, since the options for names and units narrow each other down.
    """
    matches = [f"SYSLOG_IDENTIFIER={each}" for each in _IDENTIFIERS]
    for name in ("UNIT", "_SYSTEMD_UNIT"):
        units = [f"{name}={each}" for each in _values(name) if _CRON_UNIT.fullmatch(each)]
        matches += ["+", *units[:_MOST_UNITS]] if units else []
    return cast("IO[bytes]", _Asked([*_JOURNALCTL, "--output=json", "--all", *matches]))


def _values(field: str) -> list[str]:
    """All that the journal knows for a field."""
    said = subprocess.run([*_JOURNALCTL, "--field", field], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return said.stdout.decode("utf-8", "surrogateescape").splitlines()


def spooled(stream: IO[bytes]) -> Path:
    """Standard input in a file of its own, so that it can be read twice; the caller removes it."""
    with tempfile.NamedTemporaryFile(prefix="cron2queue-", delete=False) as copy:
        shutil.copyfileobj(stream, copy, 1 << 20)
    return Path(copy.name)


def decompressed(raw: IO[bytes], compression: str) -> IO[bytes]:
    """The text behind a file compressed with xz, bz2 or zstd; raises NotALog where the means are missing."""
    if compression == "xz":
        return cast("IO[bytes]", lzma.LZMAFile(raw))
    if compression == "bz2":
        return cast("IO[bytes]", bz2.BZ2File(raw))
    return cast("IO[bytes]", _zstd(raw))


def _zstd(raw: IO[bytes]) -> Any:
    try:
        import zstandard
    except ImportError as missing:
        raise NotALog("compressed with zstd; install cron2queue[zstd], or give it decompressed") from missing
    return zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(raw, read_across_frames=True)


def read_errors() -> tuple[type[Exception], ...]:
    """What a damaged file raises while it is read."""
    known: list[type[Exception]] = [OSError, EOFError, lzma.LZMAError, ValueError]
    zstandard = sys.modules.get("zstandard")
    if zstandard is not None:
        known.append(zstandard.ZstdError)
    import zlib

    return (*known, zlib.error)


def is_plain(file: LogFile) -> bool:
    """Whether a file can be read and is not compressed."""
    try:
        with opened(file) as raw:
            return compression_of(raw.read(8)) is None
    except (OSError, NotALog):
        return False


def pieces(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """The stream in pieces of up to `size` bytes, until its end; a damaged one gives all that comes before the damage."""
    read = getattr(stream, "read1", stream.read)  # read() would lose what it has when the damage comes
    held: list[bytes] = []
    wanted = size // 2
    try:
        while piece := read(size):
            held.append(piece)
            wanted -= len(piece)
            if wanted <= 0:
                yield b"".join(held)
                held, wanted = [], size // 2
    except Exception:
        yield b"".join(held)
        raise
    yield b"".join(held)
