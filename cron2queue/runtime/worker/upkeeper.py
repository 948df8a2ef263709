"""The upkeeper: beats, watches other workers' beats, brings due jobs over, asks for cancels, prunes. A thread of its own.

None of it is a job, so none of it can be stuck behind jobs. Any worker does it; every step is guarded in the table.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from cron2queue.errors import Cron2QueueError
from cron2queue.runtime.jobs import WorkerInfo
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.control import Control
from cron2queue.runtime.worker.fence import boot_seconds
from cron2queue.runtime.worker.looks import restart_mark
from cron2queue.runtime.worker.options import WorkerOptions

log = logging.getLogger("cron2queue.worker")

_MOVE_BATCH = 500
_ROLL_UP_SECONDS = 10.0


@dataclass(slots=True)
class Watch:
    """One foreign counter: its value, since when it has been seen to stand still, and when it was last looked at."""

    counter: int
    since: float
    looked_at: float


@dataclass(slots=True, kw_only=True)
class Watcher:
    """Knows which workers have stood still for a whole lease, by its own monotonic clock and nothing else."""

    lease: float
    watches: dict[str, Watch] = field(default_factory=dict)

    def observe(self, beats: dict[str, int], now: float, *, but: str) -> list[tuple[str, int]]:
        """Workers to rescue from, with the counter that stood still.

        A gap in the watching (this process was stopped too) begins it anew: what was not watched proves nothing.
        """
        self.watches = {worker: watch for worker, watch in self.watches.items() if worker in beats}
        still: list[tuple[str, int]] = []
        for worker, counter in beats.items():
            watch = self.watches.get(worker)
            if worker == but:
                continue
            if watch is None or watch.counter != counter or now - watch.looked_at > self.lease / 2:
                self.watches[worker] = Watch(counter, now, now)
                continue
            watch.looked_at = now
            if now - watch.since >= self.lease:
                still.append((worker, counter))
        return still


@dataclass(slots=True, kw_only=True)
class Chore:
    """Something that is done every so often."""

    every: float
    do: Callable[[], None]
    due: float = 0.0


@dataclass(slots=True, kw_only=True)
class Upkeeper:
    """One thread with its own connection."""

    options: WorkerOptions
    store: Store
    info: WorkerInfo
    control: Control
    random: Random
    ended: threading.Event = field(default_factory=threading.Event)
    on_restart_mark: Callable[[], None] = lambda: None
    restart_mark: int | None = None
    watcher: Watcher = field(init=False)
    chores: list[Chore] = field(init=False)

    def __post_init__(self) -> None:
        timing = self.options.timing
        self.watcher = Watcher(lease=timing.lease)
        self.chores = [
            Chore(every=timing.beat, do=self.beat),
            Chore(every=timing.move, do=self.move_due),
            Chore(every=timing.cancel, do=self.ask_for_cancels),
            Chore(every=timing.lease / 5, do=self.rescue),
            Chore(every=_ROLL_UP_SECONDS, do=self.roll_up, due=time.monotonic() + _ROLL_UP_SECONDS),
            Chore(every=timing.prune, do=self.prune, due=time.monotonic() + timing.prune * self.random.uniform(0.5, 1.5)),
        ]

    def run(self) -> None:
        """Do what is due until `ended` is set; trouble with the database is told once and waited out."""
        troubled = False
        while not self.ended.is_set():
            try:
                self._do_what_is_due()
                troubled = False
            except Cron2QueueError as trouble:
                if not troubled:
                    log.error("upkeep: %s", trouble.message)
                troubled = True
                self.ended.wait(self.random.uniform(0.1, 1.0))
        self.store.close()

    def _do_what_is_due(self) -> None:
        now = time.monotonic()
        for chore in self.chores:
            if now >= self._due(chore) and not self.ended.is_set():
                chore.due = now + chore.every * self.random.uniform(0.9, 1.1)
                with self.control.database_turn:
                    chore.do()
        self.control.nudge.wait(max(0.01, min(map(self._due, self.chores)) - time.monotonic()))
        self.control.nudge.clear()

    def _due(self, chore: Chore) -> float:
        return min(chore.due, self.control.due_at) if chore.do == self.move_due else chore.due

    def stop(self) -> None:
        """Let the thread end."""
        self.ended.set()
        self.control.nudge.set()

    def beat(self) -> None:
        """Raise the counter. A worker that was rescued from ends its children and signs on again; one that ends has no row."""
        began = boot_seconds()
        running = sum(len(slot.assigned) for slot in self.control.slots)
        if self.store.beat(self.info.token, rss_bytes=proctree.rss_bytes([os.getpid()]), running=running):
            self.control.fence.renew(began)
        elif not self.ended.is_set():
            log.error("this worker was taken for dead; its jobs were given to others")
            self.control.lost_all()
            self.store.register_worker(self.info)
            self.control.fence.renew(began)
        self._look_for_restart_mark()

    def _look_for_restart_mark(self) -> None:
        mark = restart_mark(self.store)
        if self.restart_mark is None:
            self.restart_mark = mark
        elif mark != self.restart_mark:
            self.restart_mark = mark
            log.info("told to restart: this worker stops after its jobs")
            self.on_restart_mark()

    def move_due(self) -> None:
        """Jobs whose time has come become ready; the pump is woken for them."""
        self.control.due_at = float("inf")
        moved = self.store.move_due(limit=_MOVE_BATCH)
        if moved:
            self.control.look_now()

    def ask_for_cancels(self) -> None:
        """Ask which of the jobs in hand are to be cancelled."""
        jobs = [each.job for slot in self.control.slots for each in list(slot.assigned.values())]
        if jobs:
            self.control.cancel(self.store.cancel_requested(jobs))

    def rescue(self) -> None:
        """Take jobs back from workers whose counter has stood still for a whole lease."""
        for worker, counter in self.watcher.observe(self.store.beats(), time.monotonic(), but=self.info.token):
            rescued = self.store.rescue(worker, counter_seen=counter, by=self.info.token)
            if rescued:
                log.warning("rescued %d jobs from a worker that stood still", len(rescued), extra={"worker": worker})
                self.control.look_now()
                self.roll_up()  # the job that took one worker down may take this one as well, and its figures with it

    def roll_up(self) -> None:
        """Add what was counted to the figures that status and metrics show."""
        self.store.roll_up()

    def prune(self) -> None:
        """Old rows go, in small commits."""
        self.store.prune(self.options.retention)
