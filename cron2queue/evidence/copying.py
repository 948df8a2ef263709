"""Copies a command's output from its pipe to where it was meant to go, and counts it on the way."""

import os
import select
import signal
import stat
from contextlib import suppress
from dataclasses import dataclass, field

_PIECE = 64 << 10
_ATOM = 4096  # a pipe that polls as writable takes this much without blocking
_HEAD = 2_000


@dataclass(slots=True)
class Copied:
    """Bytes and lines by descriptor, where they were counted, and how the output began."""

    sizes: dict[int, int] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)
    head: bytes = b""

    def bytes_of(self, number: int) -> int | None:
        """Bytes written to this descriptor, or None when it was not counted."""
        return self.sizes.get(number)

    def lines_of(self, number: int) -> int | None:
        """Line feeds among them."""
        return self.lines.get(number)


NOTHING = Copied()


@dataclass(slots=True)
class _Channel:
    number: int
    source: int
    target: int
    waiting: bytes = b""
    broken: bool = False


class Copier:
    """A process of its own that copies and counts until nobody holds the pipe any more.

    The parent asks it to `settle` once the command has ended: it copies what is there, answers with the counts, and
    goes on, should some other process still hold the pipe.
    """

    def __init__(self, channels: list[_Channel], writers: dict[int, int]) -> None:
        self._channels = channels
        self._writers = writers  # by descriptor of the command
        self._ask, self._asked = os.pipe()
        self._answer, self._answered = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            self._run()

    @classmethod
    def for_outputs(cls) -> "Copier | None":
        """A copier for those of standard output and error that are pipes; None when none is, or none can be had."""
        try:
            same = _is_pipe(1) and _is_pipe(2) and os.path.sameopenfile(1, 2)
            numbers = [1] if same else [number for number in (1, 2) if _is_pipe(number)]
            if not numbers:
                return None
            channels, writers = [], {}
            for number in numbers:
                source, writers[number] = os.pipe()
                channels.append(_Channel(number, source, number))
            if same:
                writers[2] = writers[1]
            return cls(channels, writers)
        except OSError:
            return None

    def take_place(self) -> None:
        """In the command's process: the pipe becomes its output."""
        for number, writer in self._writers.items():
            os.dup2(writer, number)

    def command_started(self) -> None:
        """In the parent: let go of what only the others need."""
        for writer in set(self._writers.values()):
            os.close(writer)
        for channel in self._channels:
            os.close(channel.source)
        os.close(self._ask)
        os.close(self._answered)

    def settle(self) -> Copied:
        """In the parent, after the command's end: the counts, once all that it wrote is copied."""
        with suppress(OSError):
            os.close(self._asked)
        data = bytearray()
        with suppress(OSError):
            while piece := os.read(self._answer, _PIECE):
                data += piece
        counts, _, head = bytes(data).partition(b"\n")
        numbers = [int(number) for number in counts.split()]
        if len(numbers) != 3 * len(self._channels):
            return NOTHING
        each = list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
        return Copied({number: size for number, size, _ in each}, {number: lines for number, _, lines in each}, head)

    def _run(self) -> None:
        """The copying process; does not return."""
        try:
            for writer in set(self._writers.values()):
                os.close(writer)
            os.close(self._asked)
            os.close(self._answer)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
                signal.signal(number, signal.SIG_IGN)  # it ends when the output does
            self._copy_all()
        finally:
            os._exit(0)

    def _copy_all(self) -> None:
        copied = Copied({each.number: 0 for each in self._channels}, {each.number: 0 for each in self._channels})
        asked = answered = False
        while self._channels:
            ready = self._ready(block=not asked or answered, listen=not asked)
            if self._ask in ready:
                asked = True
            moved = [channel for channel in list(self._channels) if self._step(channel, ready, copied)]
            idle = not moved and not any(channel.waiting for channel in self._channels)
            if asked and not answered and idle:
                self._tell(copied)
                answered = True
        if not answered:
            self._tell(copied)

    def _ready(self, *, block: bool, listen: bool) -> set[int]:
        poll = select.poll()
        for channel in self._channels:
            if channel.waiting:
                poll.register(channel.target, select.POLLOUT)
            else:
                poll.register(channel.source, select.POLLIN)
        if listen:
            poll.register(self._ask, select.POLLIN)
        waiting = any(channel.waiting for channel in self._channels)
        return {number for number, _ in poll.poll(None if block or waiting else 0)}

    def _step(self, channel: _Channel, ready: set[int], copied: Copied) -> bool:
        """One piece further; whether anything was done."""
        if channel.waiting:
            if channel.target in ready:
                self._write(channel)
                return True
            return False
        if channel.source not in ready:
            return False
        data = os.read(channel.source, _PIECE)
        if not data:
            self._channels.remove(channel)
            return True
        copied.sizes[channel.number] += len(data)
        copied.lines[channel.number] += data.count(b"\n")
        copied.head += data[: max(0, _HEAD - len(copied.head))]
        channel.waiting = data
        return True

    def _write(self, channel: _Channel) -> None:
        try:
            channel.waiting = channel.waiting[os.write(channel.target, channel.waiting[:_ATOM]) :]
        except BlockingIOError:
            return  # somebody made the target non-blocking; poll will tell
        except OSError:  # nobody reads any more: the command is to notice, as it would without us
            channel.waiting = b""
            os.close(channel.source)
            self._channels.remove(channel)

    def _tell(self, copied: Copied) -> None:
        counts = " ".join(f"{number} {size} {copied.lines[number]}" for number, size in copied.sizes.items())
        with suppress(OSError):
            os.write(self._answered, counts.encode() + b"\n" + copied.head)
            os.close(self._answered)


def _is_pipe(number: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(number).st_mode)
    except OSError:
        return False
