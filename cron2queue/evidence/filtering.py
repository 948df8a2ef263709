"""Large plain logs are sieved by grep(1), where it is at hand: it finds the few lines of cron several times faster.

It runs beside us and hands over only lines that name cron; without it, or when it fails at once, all lines are read here.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, cast

from cron2queue.evidence.blocks import BLOCK, Tale, whole_lines
from cron2queue.evidence.inputs import LogFile, NotALog, is_plain, opened
from cron2queue.evidence.messages import MARKS

SMALLEST = 16 << 20
_PROBED = 64 << 10
_MOST_LINES = 0.7
# As one expression, of which grep makes one automaton: with a list of fixed strings it takes a third longer.
_ANY_MARK = b"|".join(MARKS).decode()


def share_of_cron(block: bytes) -> float:
    """Which share of lines names cron, in the beginning of a block."""
    lines = block[:_PROBED].split(b"\n")
    return sum(any(mark in line for mark in MARKS) for line in lines) / len(lines)


def worth_sieving(file: LogFile, stamps: Sequence[bytes | None], block: bytes) -> bool:
    """Whether grep can help: the file is large, plain, and nowhere long without a line's beginning (grep holds whole lines).

    Where most lines of the first block name cron, it leaves too few out.
    """
    if file.live or file.size < SMALLEST or share_of_cron(block) > _MOST_LINES:
        return False
    misses = [stamp is None for stamp in stamps]
    endless = any(all(misses[place : place + 3]) for place in range(len(misses)))
    return not endless and is_plain(file) and shutil.which("grep") is not None


def sieved(file: LogFile, tale: Tale) -> Iterator[bytes] | None:
    """Blocks of the lines that name cron; None when grep does not work here."""
    try:
        source = opened(file)
        running = subprocess.Popen(
            ["grep", "-aE", _ANY_MARK],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C", "GREP_OPTIONS": ""},
        )
    except (OSError, NotALog):
        return None
    output = cast("IO[bytes]", running.stdout)
    first = output.read(BLOCK)
    if not first and running.wait() > 1:
        output.close()
        source.close()
        return None
    return _blocks(file, source, running, first, tale)


def _blocks(file: LogFile, source: IO[bytes], running: "subprocess.Popen[bytes]", first: bytes, tale: Tale) -> Iterator[bytes]:
    before = 0
    with running, source:
        for block in whole_lines(_joined(first, cast("IO[bytes]", running.stdout)), tale):
            read = os.lseek(source.fileno(), 0, os.SEEK_CUR)  # grep's own place: it shares our offset
            tale.bytes_read += read - before
            before = read
            yield block
    tale.bytes_read += file.size - before
    if running.returncode > 1:
        tale.skipped.append(f"{file.shown}: grep gave up; what came before is used")


def _joined(first: bytes, rest: IO[bytes]) -> Iterator[bytes]:
    if first:
        yield first
        yield from iter(partial(rest.read, BLOCK), b"")
