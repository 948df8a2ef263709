"""A child: does one job after the other (or, for kinds that only wait, several side by side) and says how each ended.

Two threads: the main one runs handlers; the watcher hears the supervisor's stops, collects what Python handlers print,
and ends the whole tree of this process when the supervisor is gone.
"""

import os
import resource
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cron2queue.runtime.handlers import Handler
from cron2queue.runtime.prctl import become_subreaper
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.attempt import run_attempt
from cron2queue.runtime.worker.capture import Capture
from cron2queue.runtime.worker.context import StopSignal
from cron2queue.runtime.worker.reports import Tracker
from cron2queue.runtime.worker.statuses import Ending
from cron2queue.runtime.worker.wire import BlockingChannel, Inbox, Pulse, encoded
from cron2queue.runtime.worker.work import Work

if TYPE_CHECKING:
    from cron2queue.runtime.store import Store

_PROGRESS_SECONDS = 0.05
_FLUSH_SECONDS = 0.001


@dataclass(slots=True, kw_only=True)
class Child:
    """One child process between its first and its last job."""

    jobs: BlockingChannel
    control: socket.socket
    pulse: Pulse
    handlers: Mapping[str, Handler]
    database: str
    prefix: str
    begun: int = 0
    stops: dict[int, StopSignal] = field(default_factory=dict)
    capture: Capture | None = None
    outgoing: list[bytes] = field(default_factory=list)
    plain: list[tuple[int, float]] = field(default_factory=list)  # numbers and seconds of jobs that are simply done
    flushed_at: float = 0.0
    turn: threading.Lock = field(default_factory=threading.Lock)
    stores: threading.local = field(default_factory=threading.local)

    def store(self) -> "Store":
        """The connection of the calling thread, opened when a handler first needs it: no connection crosses a fork."""
        if not hasattr(self.stores, "store"):
            from cron2queue.runtime.store import Store

            self.stores.store = Store.open(self.database, prefix=self.prefix)
        store: Store = self.stores.store
        return store

    def serve(self) -> None:
        """Work until the supervisor closes its end."""
        threading.Thread(target=self._watch, name="watcher", daemon=True).start()
        while (message := self.jobs.receive()) is not None:
            for work in self._expect(message):
                self._do(work)
                if time.monotonic() - self.flushed_at > _FLUSH_SECONDS:
                    self.flush()
            self.flush()

    def serve_threads(self, count: int) -> None:
        """The same with jobs side by side, for kinds that only wait."""
        from concurrent.futures import ThreadPoolExecutor

        threading.Thread(target=self._watch, name="watcher", daemon=True).start()
        with ThreadPoolExecutor(max_workers=count, thread_name_prefix="job") as pool:
            while (message := self.jobs.receive()) is not None:
                for work in self._expect(message):
                    pool.submit(self._do_and_flush, work)

    def _expect(self, message: list[tuple[int, list[Any]]]) -> list[Work]:
        """A stop may overtake its job: its signal has to be there before the job begins."""
        works = [Work.from_wire(each) for each in message]
        for work in works:
            self.stops[work.number] = StopSignal()
        return works

    def _do_and_flush(self, work: Work) -> None:
        self._do(work)
        self.flush()

    def _do(self, work: Work) -> None:
        stop = self.stops[work.number]
        began = time.monotonic()
        with self.turn:
            self.begun += 1
            ordinal = self.begun
            self.pulse.begin(ordinal, began)
        handler = self.handlers[work.job.kind]
        last_told = 0.0

        def tell_progress(fraction: float | None, phase: str) -> None:
            nonlocal last_told
            now = time.monotonic()
            if now - last_told >= _PROGRESS_SECONDS or fraction == 1.0:
                last_told = now
                self._queue(encoded(["progress", work.number, fraction, phase]))
                self.flush()

        def tell_completed() -> None:
            self._queue(encoded(["completed", work.number]))
            self.flush()

        tracker = Tracker(on_progress=tell_progress, on_completed=tell_completed)
        report = run_attempt(work, handler, stop, tracker, self.store, self.capture, began)
        seconds = time.monotonic() - began
        said = report.said()
        if report.ending is Ending.DONE and not said:
            with self.turn:
                self.plain.append((work.number, round(seconds, 6)))
                self.pulse.done(ordinal, seconds)
        else:
            self._queue(report.encoded(work.number, seconds, said))
            self.flush()  # what it says must not be lost with a child that the next job may take down
        self.stops.pop(work.number, None)
        stop.close()

    def _queue(self, message: bytes) -> None:
        with self.turn:
            self.outgoing.append(message)

    def flush(self) -> None:
        """Send what has gathered; results wait a millisecond at most while further jobs of a group run."""
        with self.turn:
            if self.plain:
                self.outgoing.append(encoded(["plain", self.plain]))
                self.plain = []
            data, self.outgoing = b"".join(self.outgoing), []
            self.flushed_at = time.monotonic()
            if data:
                try:
                    self.jobs.send(data)
                except OSError:
                    end_with_tree()

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        if self.capture is not None:
            poll.register(self.capture.descriptor, select.POLLIN)
        inbox = Inbox()
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.control.fileno():
                    self._hear(inbox)
                elif self.capture is not None:
                    self.capture.take()

    def _hear(self, inbox: Inbox) -> None:
        try:
            data = self.control.recv(4096)
        except ConnectionError:
            data = b""
        if not data:
            end_with_tree()
        for number, reason in inbox.feed(data):
            if stop := self.stops.get(number):
                stop.set(reason)


def end_with_tree() -> None:
    """End everything that descends from this process, and the process: nobody is left who could take a result.

    The kernel's signal at the end of a parent would be quicker, and leave the programs that this process has started.
    """
    proctree.kill_tree(os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)


def _settle_in() -> None:
    """What a fresh fork has to do before it may run anything."""
    os.setsid()
    become_subreaper()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    # A debugger or core dump of a worker's child would hold secrets of its jobs.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def main(jobs: socket.socket, control: socket.socket, pulse: int, handlers: Mapping[str, Handler], supervisor: int) -> None:
    """Be a child until the supervisor has no more for it; never returns to the caller's own business."""
    _settle_in()
    channel = BlockingChannel(jobs)
    hello = channel.receive()
    if hello is None or os.getppid() != supervisor:
        os._exit(0)
    threads = int(hello["threads"])
    child = Child(
        jobs=channel,
        control=control,
        pulse=Pulse(pulse),
        handlers=handlers,
        database=hello["database"],
        prefix=hello["prefix"],
        capture=None if threads else Capture.install(),
    )
    os.close(pulse)
    if threads:
        child.serve_threads(threads)
    else:
        child.serve()
    sys.stdout.flush()
    os._exit(0)
