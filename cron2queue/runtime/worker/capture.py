"""What a Python handler prints, kept like a program's output: head and tail."""

import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from io import TextIOWrapper, UnsupportedOperation
from termios import FIONREAD

from cron2queue.runtime.worker.output import HeadAndTail

_CHUNK = 64 * 1024
_NO_BYTES = bytes(4)


_NOT_FLUSHED = (OSError, ValueError, UnsupportedOperation, AttributeError)  # closed, or replaced by what is no stream


def _flush_each() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(*_NOT_FLUSHED):
            stream.flush()


@dataclass(slots=True, kw_only=True)
class Capture:
    """The reading end of the pipe that standard output and error of this process lead into."""

    descriptor: int
    _kept: HeadAndTail = field(default_factory=HeadAndTail)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def install(cls) -> "Capture":
        """Lead this process's standard output and error into a pipe. No text that is printed fails a job, in any locale."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reading, False)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # while they are where they were: a file's stream asks where it stands
                with suppress(OSError):
                    stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        for standard in (1, 2):
            os.dup2(writing, standard, inheritable=True)
        os.close(writing)
        return cls(descriptor=reading)

    def take(self) -> None:
        """Read what is there; called by the watcher, so that a full pipe never stops a handler."""
        with self._turn:
            self._read()

    def _read(self) -> None:
        for _ in range(64):
            try:
                data = os.read(self.descriptor, _CHUNK)
            except BlockingIOError:
                return
            self._kept.feed(data)

    def begin(self) -> None:
        """Forget what was printed before this job."""
        with self._turn:
            self._read_waiting()
            if self._kept.total:
                self._kept = HeadAndTail()

    def _read_waiting(self) -> None:
        """Most jobs print nothing: to ask how much there is costs less than to fail to read."""
        if any(ioctl(self.descriptor, FIONREAD, _NO_BYTES)):
            self._read()

    def end(self) -> str:
        """What was printed since `begin`."""
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except _NOT_FLUSHED:
            _flush_each()
        with self._turn:
            self._read_waiting()
            return self._kept.text()
