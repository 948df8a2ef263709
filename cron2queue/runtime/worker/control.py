"""What the three threads of a supervisor share: the pump works, the warden watches, the upkeeper beats."""

import os
import select
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field

from cron2queue.runtime.worker.fence import Fence
from cron2queue.runtime.worker.slots import Assignment, Slot
from cron2queue.runtime.worker.stops import LOST

_PROGRESS_SECONDS = 0.5


def _signal_descriptor() -> int:
    """Readable as soon as a signal has come: Python runs its handlers only between two steps of the main thread."""
    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    if threading.current_thread() is threading.main_thread():
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


@dataclass(slots=True)
class Control:
    """Flags, each written by one thread and read by others; no lock is held while anybody waits.

    `one_writer`: on SQLite the threads take turns, since its own waiting sleeps up to a tenth of a second.
    """

    fence: Fence
    one_writer: bool = False
    stopping: bool = False
    abandoned: bool = False
    ended: bool = False
    has_progress: bool = False
    looks: bool = False
    slots: tuple[Slot, ...] = ()
    database_turn: AbstractContextManager[object] = field(init=False)
    pump_at: float = field(default_factory=time.monotonic)
    wake_fd: int = field(default_factory=lambda: os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK))
    warden_fd: int = field(default_factory=lambda: os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK))
    signal_fd: int = field(default_factory=_signal_descriptor)
    cancelled: set[int] = field(default_factory=set)
    progress_at: float = 0.0
    due_at: float = float("inf")
    nudge: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.database_turn = threading.Lock() if self.one_writer else nullcontext()

    def wake(self) -> None:
        """Let the pump look around now."""
        os.eventfd_write(self.wake_fd, 1)

    def drain_wakes(self) -> None:
        """The pump is awake."""
        _drain(self.wake_fd)

    def warden_waits(self, seconds: float) -> None:
        """The warden sleeps, until a signal or another thread has something for it."""
        if self.ended:
            seconds = min(seconds, 0.01)
        select.select([self.warden_fd, self.signal_fd], [], [], seconds)
        _drain(self.warden_fd)
        with suppress(BlockingIOError):
            os.read(self.signal_fd, 512)

    def expect_due(self, at: float) -> None:
        """A job of this worker is to be tried again at this moment: the upkeeper need not wait for its next round."""
        if at < self.due_at:
            self.due_at = at
            self.nudge.set()

    def wake_warden(self) -> None:
        """There is something for the warden."""
        os.eventfd_write(self.warden_fd, 1)

    def thread_ended(self) -> None:
        """Pump or upkeeper has ended; the warden does not sleep over it."""
        self.ended = True
        self.wake_warden()

    def look_now(self) -> None:
        """Something became ready: let the pump look at its queues."""
        self.looks = True
        self.wake()

    def pump_turned(self) -> None:
        """The pump is not stuck."""
        self.pump_at = time.monotonic()

    def slots_changed(self, slots: Sequence[Slot]) -> None:
        """The warden sees the children through this."""
        self.slots = tuple(slots)

    def is_fenced(self) -> bool:
        """No beat has gone through for too long: claim nothing."""
        return self.fence.is_closed()

    def progress_is_due(self) -> bool:
        """At most one write of progress in half a second."""
        now = time.monotonic()
        if now - self.progress_at < _PROGRESS_SECONDS:
            return False
        self.progress_at, self.has_progress = now, False
        return True

    def lost(self, slot: Slot, assignment: Assignment) -> None:
        """The job belongs to another by now: its child is killed, and what it did is discarded."""
        slot.ask_to_stop(assignment, LOST, kill_after=0.0)
        self.wake_warden()

    def lost_all(self) -> None:
        """Every job in hand belongs to others by now."""
        for slot in self.slots:
            for assignment in list(slot.assigned.values()):
                self.lost(slot, assignment)

    def cancel(self, job_ids: set[int]) -> None:
        """These jobs are to be cancelled; the warden tells their children."""
        if job_ids - self.cancelled:
            self.cancelled |= job_ids
            self.wake_warden()


def _drain(descriptor: int) -> None:
    try:
        os.eventfd_read(descriptor)
    except BlockingIOError:
        return
