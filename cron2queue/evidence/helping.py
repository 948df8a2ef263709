"""Large plain logs that are cron's throughout are read by helpers: processes of their own, each with every n-th piece.

A helper makes batches (see condensing.py), and says of a piece that it has none when it is not sure; that one is read here.
The times in a batch are checked against our own clock, which has seen the whole file, so that all is as if read in one go.
"""

import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from datetime import datetime, tzinfo
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import NamedTuple, cast

from cron2queue.evidence.batch import Batch
from cron2queue.evidence.blocks import LONGEST_LINE, MARK, Tale, cleaned
from cron2queue.evidence.condensing import Condenser, is_dense, reread
from cron2queue.evidence.inputs import LogFile, NotALog, is_plain, opened
from cron2queue.evidence.reading import Formats, SyslogReader, new_formats
from cron2queue.evidence.sampling import step_of
from cron2queue.evidence.stamps import Clock, NoStamp

SMALLEST = 64 << 20
PIECE = 1 << 20
_PROBES = 8
_PROBED = 32 << 10
_MOST = 4
_PROGRAM = "import sys; from cron2queue.evidence.helping import help_with; help_with(*map(int, sys.argv[1:]))"


class Piece(NamedTuple):
    """The lines that begin between two places of a file, and the year of the first of them."""

    start: int
    end: int
    year: int


class Task(NamedTuple):
    """What a helper has to do."""

    zone: tzinfo
    newest: datetime
    pieces: tuple[Piece, ...]


def lines_of(piece: Piece, descriptor: int) -> tuple[bytes, bool]:
    """The lines of a piece, as blocks.py gives them, and whether the last of them was so long that it was cut."""
    end = piece.end - piece.start
    data = os.pread(descriptor, end + LONGEST_LINE, piece.start)
    if not piece.start:
        data, end = b"\n" + data.removeprefix(MARK), end + 1 - len(MARK) * data.startswith(MARK)
    first, last = data.find(b"\n", 0, end), data.find(b"\n", end)
    if first < 0:
        return b"", False
    return cleaned(data[first : last if last >= 0 else len(data)]).rstrip(b"\n"), last < 0 and len(data) >= end + LONGEST_LINE


def help_with(number: int, log: int) -> None:
    """The helper: answers each piece of the task that comes over a descriptor with a batch, or None; `log` is the open file."""
    gc.disable()  # the millions of small tuples hold no rings
    ours = Connection(number)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        task = cast("Task", ours.recv())
        formats, clock = Formats(new_formats()), Clock(task.zone, task.newest.year, task.newest)
        condenser = Condenser(SyslogReader(formats, clock), formats, clock)
        for piece in task.pieces:
            clock.begin(piece.year)
            block, was_cut = lines_of(piece, log)
            ours.send(None if was_cut else condenser.batch(block))


def worth_help(file: LogFile) -> bool:
    """Whether the file is large, plain and dense, and there is a processor to spare."""
    if file.live or file.size < SMALLEST or not _helpers() or not is_plain(file):
        return False
    with suppress(OSError, NotALog), opened(file) as raw:
        places = range(0, file.size - _PROBED, file.size // _PROBES)
        return all(is_dense(os.pread(raw.fileno(), _PROBED, place)) for place in places)
    return False


def _helpers() -> int:
    return (
        min(len(os.sched_getaffinity(0)), _MOST) if hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1 else 0
    )


def helped(
    file: LogFile, clock: Clock, stamps: Sequence[bytes | None], reader: SyslogReader, tale: Tale
) -> Iterator[Batch | bytes]:
    """The file's blocks in order, most of them in short; the first and the last are always whole."""
    pieces = tuple(_pieces(file, clock, stamps))
    with ExitStack() as cleanup:
        log = cleanup.enter_context(opened(file)).fileno()
        count = _helpers()
        theirs = [_started(log, clock, pieces[1:-1][number::count], cleanup) for number in range(count)]
        for number, piece in enumerate(pieces):
            inner = 0 < number < len(pieces) - 1
            batch = _answer(theirs[(number - 1) % count]) if inner else None
            tale.bytes_read += min(piece.end, file.size) - piece.start
            before = clock.state()
            read = partial(_read, piece, log, tale)
            if batch is not None and _agrees(batch, clock):
                batch.events = partial(reread, reader, clock, before, read)
                yield batch
                continue
            clock.restore(before)
            if block := read():  # no line may begin in a piece
                yield block


def _read(piece: Piece, descriptor: int, tale: Tale) -> bytes:
    block, was_cut = lines_of(piece, descriptor)
    tale.long_lines += was_cut
    return block


def _pieces(file: LogFile, clock: Clock, stamps: Sequence[bytes | None]) -> Iterator[Piece]:
    """All of the file; the years are those of a clock that sees the samples only, which is enough to know the year."""
    walking, step, year, seen = clock.afresh(), step_of(file.size), clock.year, 0
    for start in range(0, file.size, PIECE):
        while seen <= start // step and seen < len(stamps):
            with suppress(NoStamp):
                walking.seconds(stamps[seen] or b"")
                year = walking.year
            seen += 1
        yield Piece(start, start + PIECE, year)


def _started(log: int, clock: Clock, pieces: tuple[Piece, ...], cleanup: ExitStack) -> Connection | None:
    """A helper at work; None when none can be had."""
    ours, theirs = Pipe()
    cleanup.callback(ours.close)
    with theirs:
        try:
            helper = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno()), str(log)],
                pass_fds=(theirs.fileno(), log),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            cleanup.callback(helper.wait)
            cleanup.callback(helper.terminate)
            ours.send(Task(clock.zone, clock.newest, pieces))
        except Exception:  # a zone that cannot be sent, no room for a process: all is read here instead
            return None
    return ours


def _answer(theirs: Connection | None) -> Batch | None:
    if theirs is None:
        return None
    try:
        return cast("Batch | None", theirs.recv())
    except (EOFError, OSError):  # it is gone
        return None


def _agrees(batch: Batch, clock: Clock) -> bool:
    """Whether the helper's clock went as ours, which now goes on from the batch's last line."""
    try:
        return all(clock.seconds(stamp) == at for stamp, at in batch.stamps)
    except NoStamp:
        return False
