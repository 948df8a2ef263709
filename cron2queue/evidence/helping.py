"""Large logs are read by helpers: processes of their own, to which the blocks are handed in turn.

A helper makes batches (see condensing.py), and says of a block that it has none when it is not sure; that one is read here.
The times in a batch are checked against our own clock, which sees the whole file, so that all is as if read in one go.
"""

import gc
import mmap
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from datetime import datetime, tzinfo
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import NamedTuple, cast

from cron2queue.evidence.batch import Batch
from cron2queue.evidence.blocks import BLOCK
from cron2queue.evidence.condensing import Condenser, reread
from cron2queue.evidence.filtering import share_of_cron
from cron2queue.evidence.inputs import LogFile, is_plain
from cron2queue.evidence.reading import Formats, SyslogReader, new_formats
from cron2queue.evidence.stamps import Clock, NoStamp, stamp_of

SMALLEST = 32 << 20  # bytes of lines that name cron
_ROOM = 2 * BLOCK
_AHEAD = 2  # blocks that a helper has, so that it need not wait for the next
_MOST = 3
_USUAL_RATIO = 10  # of compression
_PROGRAM = "import sys; from cron2queue.evidence.helping import help_with; help_with(*map(int, sys.argv[1:]))"


class Task(NamedTuple):
    """What a helper has to know."""

    zone: tzinfo
    newest: datetime


def help_with(tasks: int, answers: int, room: int) -> None:
    """The helper, which has three descriptors: answers each block in the shared room with a batch, or None.

    It is asked with the year of the block's first line, and where in the room the block begins and ends.
    """
    gc.disable()  # the millions of small tuples hold no rings
    asked, answering = Connection(tasks, writable=False), Connection(answers, readable=False)
    with suppress(EOFError, OSError, KeyboardInterrupt):
        task = cast("Task", asked.recv())
        formats, clock = Formats(new_formats()), Clock(task.zone, task.newest.year, task.newest)
        condenser = Condenser(SyslogReader(formats, clock), formats, clock)
        with mmap.mmap(room, _AHEAD * _ROOM, access=mmap.ACCESS_READ) as text:
            while True:
                year, start, end = asked.recv()
                clock.begin(year)
                answering.send(condenser.batch(text[start:end]))


def worth_help(file: LogFile, block: bytes, formats: Formats, clock: Clock) -> bool:
    """Whether much is to be read that can be told in short, going by the first block, and a processor is to spare."""
    size = file.size * share_of_cron(block) * (1 if is_plain(file) else _USUAL_RATIO)
    if size < SMALLEST or not helpers():
        return False
    fresh = clock.afresh()
    return Condenser(SyslogReader(formats, fresh), formats, fresh).batch(block) is not None


def helpers() -> int:
    """How many may be at work; none where there is but one processor."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return min(processors, _MOST) if processors > 1 else 0


def helped(reading: Iterable[bytes], clock: Clock, reader: SyslogReader) -> Iterator[tuple[bytes, Batch | None]]:
    """The blocks in order, most of them in short."""
    most, walking = helpers(), clock.afresh()
    team: list[_Helper] = []
    busy: deque[tuple[_Helper, bytes]] = deque()
    with ExitStack() as cleanup:
        for number, block in enumerate(reading):
            if len(team) < most:
                team.append(_Helper(clock, cleanup))
            helper = team[number % most]
            oldest = busy.popleft()[1] if len(busy) == _AHEAD * most else None
            batch = helper.answer() if oldest is not None else None
            with suppress(NoStamp):
                walking.seconds(stamp_of(block[1:80]) or b"")
            helper.ask(walking.year, block)
            busy.append((helper, block))
            if oldest is not None:
                yield _checked(batch, oldest, clock, reader)
        for helper, block in busy:
            yield _checked(helper.answer(), block, clock, reader)


def _checked(batch: Batch | None, block: bytes, clock: Clock, reader: SyslogReader) -> tuple[bytes, Batch | None]:
    """The batch only where the helper's clock went as ours, which now goes on from the batch's last line."""
    before = clock.state()
    if batch is None or not _agrees(batch, clock):
        clock.restore(before)
        return block, None
    batch.events = partial(reread, reader, clock, before, lambda: block)
    return block, batch


def _agrees(batch: Batch, clock: Clock) -> bool:
    try:
        return all(clock.seconds(stamp) == at for stamp, at in batch.stamps)
    except NoStamp:
        return False


class _Helper:
    """A helper at work. Where none can be had, or it is gone, it has no answers: all is read here instead."""

    def __init__(self, clock: Clock, cleanup: ExitStack) -> None:
        their_tasks, self._tasks = Pipe(duplex=False)
        self._answers, their_answers = Pipe(duplex=False)
        self._asked: deque[bool] = deque()
        self._place = 0
        room = os.memfd_create("cron2queue", os.MFD_CLOEXEC)
        os.truncate(room, _AHEAD * _ROOM)
        self._room = cleanup.enter_context(mmap.mmap(room, _AHEAD * _ROOM))
        cleanup.callback(self._tasks.close)
        cleanup.callback(self._answers.close)
        with their_tasks, their_answers, os.fdopen(room):
            theirs = their_tasks.fileno(), their_answers.fileno(), room
            with suppress(Exception):  # no room for a process, or a zone that cannot be sent
                helper = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM, *map(str, theirs)],
                    pass_fds=theirs,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                cleanup.callback(helper.wait)
                cleanup.callback(helper.terminate)
                self._tasks.send(Task(clock.zone, clock.newest))

    def ask(self, year: int, block: bytes) -> None:
        """For a batch of this block, before or after that before it was answered."""
        self._asked.append(len(block) <= _ROOM)
        if not self._asked[-1]:
            return
        end = self._place + len(block)
        with suppress(OSError):
            self._room[self._place : end] = block
            self._tasks.send((year, self._place, end))
        self._place = (self._place + _ROOM) % (_AHEAD * _ROOM)

    def answer(self) -> Batch | None:
        """What it makes of the first block that is not answered yet."""
        with suppress(EOFError, OSError):
            return cast("Batch | None", self._answers.recv()) if self._asked.popleft() else None
        return None
