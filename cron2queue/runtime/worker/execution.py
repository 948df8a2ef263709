"""Runs one program to its end, for exactly as long as it may, and tells how it ended.

TERM, grace, KILL go to the whole tree. A grandchild that keeps the output open cannot hang the worker, a flood of
output cannot grow it, and a program that never reads its input cannot block it.
"""

import os
import resource
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.output import HeadAndTail
from cron2queue.runtime.worker.reports import LineReader, Tracker
from cron2queue.runtime.worker.spawn import Program, Started, close_all, start
from cron2queue.runtime.worker.statuses import ProgramEnd

_CHUNK = 64 * 1024
_MEMORY_LOOK_SECONDS = 0.1
_WITHOUT_PIDFD_SECONDS = 0.02
_NET_BYTES = 64 * 2**20  # the kernel's own limit stands at twice the kind's and this, against a sudden burst
_SAID_OUT_OF_MEMORY = ("MemoryError", "Cannot allocate memory", "bad_alloc", "out of memory", "Out of memory")
_left_running: set[proctree.Process] = set()  # daemons of old commands: theirs to end, ours to bury


class Stragglers(StrEnum):
    """What becomes of descendants that outlive the program itself.

    `KILL`: they end with it. `AS_CRON`: those that hold the output are waited for, as cron waits before it mails;
    true daemons stay and are reported.
    """

    KILL = "kill"
    AS_CRON = "as-cron"


class Stopped(StrEnum):
    """Why the worker ended a program."""

    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    ASKED = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How long and how large; seconds and bytes, None is unlimited. `stop_fd` becomes readable when it is to end."""

    timeout: float | None = None
    grace: float = 10.0
    memory_bytes: int | None = None
    stop_fd: int | None = None
    stragglers: Stragglers = Stragglers.KILL


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a program ended. `max_rss_bytes` None: not known, since it is not above this process's own."""

    end: ProgramEnd
    stopped: Stopped | None
    output: str
    output_bytes: int
    seconds: float
    max_rss_bytes: int | None
    stragglers: int


def execute(program: Program, data: bytes, bounds: Bounds, tracker: Tracker) -> Execution:
    """Run it, feed it `data` on stdin, and wait for its end. Raises CouldNotStart."""
    _bury()
    before = frozenset(proctree.descendants(os.getpid())) if proctree.has_children() else frozenset()
    run = _Run(started=start(program), bounds=bounds, data=data, tracker=tracker, before=before)
    try:
        return run.to_the_end()
    finally:
        run.close()


def _bury() -> None:
    for daemon in [each for each in _left_running if not proctree.is_alive(each)]:
        _left_running.discard(daemon)
        with suppress(ChildProcessError):
            os.waitpid(daemon.pid, os.WNOHANG)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One running program: a small state machine around poll(2)."""

    started: Started
    bounds: Bounds
    data: bytes
    tracker: Tracker
    before: frozenset[proctree.Process]
    began: float = field(default_factory=time.monotonic)
    capture: HeadAndTail = field(default_factory=HeadAndTail)
    stopped: Stopped | None = None
    kill_at: float | None = None
    killed: bool = False
    peak_rss: int = 0
    wait_status: int | None = None
    usage_rss: int = 0
    stragglers: int = 0
    lines: LineReader = field(init=False)
    poll: select.poll = field(init=False)
    handlers: dict[int, Callable[[], None]] = field(init=False)
    pidfd: int = -1
    opened: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.lines = LineReader(on_line=self.tracker.take)
        self.poll = select.poll()
        self.opened = {self.started.stdin, self.started.output, self.started.reports}
        self.handlers = {
            self.started.stdin: self._write,
            self.started.output: self._read_output,
            self.started.reports: self._read_reports,
        }
        with suppress(OSError):  # a kernel or sandbox without pidfd_open: look now and then instead
            self.pidfd = os.pidfd_open(self.started.pid)
            self.opened.add(self.pidfd)
            self._watch(self.pidfd, self._collect)
        if self.bounds.stop_fd is not None:
            self._watch(self.bounds.stop_fd, self._asked_to_stop)
        for each in (self.started.output, self.started.reports):
            self.poll.register(each, select.POLLIN)
        self._write()
        self._limit_memory()

    def _watch(self, descriptor: int, act: Callable[[], None]) -> None:
        self.handlers[descriptor] = act
        self.poll.register(descriptor, select.POLLIN)

    def _limit_memory(self) -> None:
        limit = self.bounds.memory_bytes
        if limit is not None:
            net = 2 * limit + _NET_BYTES
            with suppress(OSError, ValueError):
                resource.prlimit(self.started.pid, resource.RLIMIT_DATA, (net, net))

    # The end comes in three steps: the program ends, its stragglers end or are let be, the pipes are empty.
    def to_the_end(self) -> Execution:
        try:
            while self.wait_status is None:
                self._turn()
            self._settle_stragglers()
        except BaseException:
            self._kill()
            self._collect(block=True)
            raise
        return self._told()

    def _turn(self) -> None:
        now = time.monotonic()
        for descriptor, _ in self.poll.poll(self._milliseconds(now)):
            if act := self.handlers.get(descriptor):
                act()
        if self.wait_status is None and self.pidfd < 0:
            self._collect()
        self._enforce(time.monotonic())

    def _milliseconds(self, now: float) -> int | None:
        times = [self._deadline(), self.kill_at]
        if self.bounds.memory_bytes is not None:
            times.append(now + _MEMORY_LOOK_SECONDS)
        if self.pidfd < 0:
            times.append(now + _WITHOUT_PIDFD_SECONDS)
        due = [each for each in times if each is not None]
        return max(0, int((min(due) - now) * 1000) + 1) if due else None

    def _deadline(self) -> float | None:
        if self.bounds.timeout is None or self.stopped is not None:
            return None
        return self.began + self.bounds.timeout

    def _enforce(self, now: float) -> None:
        deadline = self._deadline()
        if deadline is not None and now >= deadline:
            self._stop(Stopped.TIMEOUT)
        elif self.bounds.memory_bytes is not None and self.stopped is None:
            self._look_at_memory(self.bounds.memory_bytes)
        if self.kill_at is not None and now >= self.kill_at:
            self._kill()

    def _look_at_memory(self, limit: int) -> None:
        tree = [self.started.pid, *(each.pid for each in proctree.descendants(self.started.pid))]
        self.peak_rss = max(self.peak_rss, proctree.rss_bytes(tree))
        if self.peak_rss > limit:
            self.stopped = Stopped.OUT_OF_MEMORY
            self._kill()

    def _asked_to_stop(self) -> None:
        if self.bounds.stop_fd is not None:
            self.poll.unregister(self.bounds.stop_fd)
        self._stop(Stopped.ASKED)

    def _stop(self, why: Stopped) -> None:
        """TERM to every process of the tree, in whatever session or group it is by now; KILL comes after the grace."""
        if self.stopped is None:
            self.stopped = why
        if self.kill_at is None:
            self.kill_at = time.monotonic() + self.bounds.grace
            for each in self._tree():
                proctree.send(each, signal.SIGTERM)
                proctree.send(each, signal.SIGCONT)

    def _kill(self) -> None:
        self.kill_at = None
        self.killed = True
        proctree.kill_tree(os.getpid(), without=self.before)

    def _tree(self) -> list[proctree.Process]:
        return proctree.descendants(os.getpid(), without=self.before)

    def _collect(self, *, block: bool = False) -> None:
        pid, status, usage = os.wait4(self.started.pid, 0 if block else os.WNOHANG)
        if pid:
            self.wait_status, self.usage_rss = status, usage.ru_maxrss * 1024

    def _settle_stragglers(self) -> None:
        """The program has ended; what it left behind ends too, or is waited for while it holds the output."""
        self._drain()
        if not proctree.has_children():
            return
        self._reap_tree()
        self.stragglers = len(self._tree())
        if self.bounds.stragglers is Stragglers.AS_CRON and self.stopped is None:
            self._wait_for_output_to_close()
        if self.bounds.stragglers is Stragglers.KILL or self.stopped is not None:
            self._end_stragglers()
        else:
            left = self._tree()
            _left_running.update(left)
            self.stragglers = len(left)
        self._drain()

    def _wait_for_output_to_close(self) -> None:
        while self.started.output in self.opened and not self.killed:
            self._turn_without_program()

    def _end_stragglers(self) -> None:
        """Those that a stop has already reached keep their grace; all others have none."""
        while self.stopped is not None and self.kill_at is not None and self._tree():
            self._turn_without_program()
        proctree.kill_orphans(frozenset(), without=self.before)

    def _turn_without_program(self) -> None:
        if self.pidfd in self.opened:
            self._forget(self.pidfd)
        now = time.monotonic()
        soonest = min([now + 0.05, *(t for t in (self._deadline(), self.kill_at) if t is not None)])
        for descriptor, _ in self.poll.poll(max(0, int((soonest - now) * 1000) + 1)):
            if act := self.handlers.get(descriptor):
                act()
        self._reap_tree()
        self._enforce(time.monotonic())

    def _reap_tree(self) -> None:
        """Collect orphans that came to this process, and never a child of somebody else in it."""
        for child in proctree.zombie_children(os.getpid(), without=self.before):
            with suppress(ChildProcessError):
                os.waitpid(child.pid, 0)

    def _write(self) -> None:
        try:
            written = os.write(self.started.stdin, self.data[: 1 << 20]) if self.data else 0
        except BlockingIOError:
            written = 0
        except OSError:  # it does not read: its own affair
            self.data, written = b"", 0
        self.data = self.data[written:]
        if self.data:
            self.poll.register(self.started.stdin, select.POLLOUT)
        else:
            self._forget(self.started.stdin)

    def _read_output(self) -> None:
        self._read(self.started.output, self.capture.feed)

    def _read_reports(self) -> None:
        self._read(self.started.reports, self.lines.feed)

    def _read(self, descriptor: int, feed: Callable[[bytes], None]) -> bool:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._forget(descriptor)
            return False
        feed(data)
        return True

    def _drain(self) -> None:
        """Take what is in the pipes now; somebody who goes on writing is not waited for."""
        for descriptor, feed in ((self.started.output, self.capture.feed), (self.started.reports, self.lines.feed)):
            for _ in range(64):
                if descriptor not in self.opened or not self._read(descriptor, feed):
                    break

    def _forget(self, descriptor: int) -> None:
        if descriptor in self.opened:
            with suppress(KeyError):
                self.poll.unregister(descriptor)
            self.opened.discard(descriptor)
            self.handlers.pop(descriptor, None)
            close_all([descriptor])

    def close(self) -> None:
        close_all(self.opened)
        self.opened.clear()

    def _told(self) -> Execution:
        self.lines.close()
        output = self.capture.text()
        own_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        # A spawned program's peak begins at this process's own, since it shared its memory until exec.
        known = max(self.peak_rss, self.usage_rss if self.usage_rss > own_peak else 0)
        assert self.wait_status is not None
        return Execution(
            end=ProgramEnd.of_wait_status(self.wait_status),
            stopped=self._why_stopped(known, output),
            output=output,
            output_bytes=self.capture.total,
            seconds=time.monotonic() - self.began,
            max_rss_bytes=known or None,
            stragglers=self.stragglers,
        )

    def _why_stopped(self, peak: int, output: str) -> Stopped | None:
        """The kernel's net may have been faster than the look: then the program failed, and says why."""
        limit = self.bounds.memory_bytes
        if self.stopped is not None or limit is None or self.wait_status == 0:
            return self.stopped
        said = any(word in output for word in _SAID_OUT_OF_MEMORY)
        return Stopped.OUT_OF_MEMORY if said or peak >= 0.9 * limit else None
