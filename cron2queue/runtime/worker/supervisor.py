"""The supervisor: puts the parts of a worker together, and sees them through start, work and stop.

Three threads: the main one hears signals and is the warden, the pump claims and settles, the upkeeper beats. Each of
the two that speak to the database has its own connection, and none of them crosses a fork: children come from the
template process.
"""

import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from random import Random
from types import FrameType

from cron2queue import __version__
from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime.database.address import parse
from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import WorkerInfo
from cron2queue.runtime.prctl import become_subreaper
from cron2queue.runtime.settings import QueueSettings
from cron2queue.runtime.store import Store
from cron2queue.runtime.verbs.tally import Tally
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.control import Control
from cron2queue.runtime.worker.crew import Crew
from cron2queue.runtime.worker.fence import Fence
from cron2queue.runtime.worker.hints import hints_for
from cron2queue.runtime.worker.host import refuse_unfit
from cron2queue.runtime.worker.lanes import lanes_for
from cron2queue.runtime.worker.notify import ServiceManager
from cron2queue.runtime.worker.nursery import Nursery
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.pump import Pump
from cron2queue.runtime.worker.settlers import connections
from cron2queue.runtime.worker.upkeeper import Upkeeper
from cron2queue.runtime.worker.warden import Warden

log = logging.getLogger("cron2queue.worker")

_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_QUICK_SECONDS = 2.0
_LAST_SECONDS = 20.0  # after the last child is gone, so long may the database take
_STUCK_SECONDS = 60.0


@dataclass(slots=True)
class Supervisor:
    """One worker, from its start to its end."""

    options: WorkerOptions
    manager: ServiceManager = field(default_factory=ServiceManager)
    random: Random = field(default_factory=Random)
    asked_to_stop: int = 0
    stop_heard: int = 0
    failure: BaseException | None = None
    tally: Tally = field(default_factory=Tally)

    def run(self) -> None:
        """Work until told to stop (or, draining, until nothing is left). Raises Cron2QueueError when it cannot start."""
        become_subreaper()
        self._hear_signals()
        nursery = Nursery(self.options)
        nursery.start()
        try:
            self._run_with(nursery)
        finally:
            nursery.close()
        if self.failure is not None:
            raise self.failure

    def _hear_signals(self) -> None:
        def count(number: int, frame: FrameType | None) -> None:
            self.asked_to_stop += 1

        for number in _STOPS:
            signal.signal(number, count)

    def _run_with(self, nursery: Nursery) -> None:
        if not nursery.kinds:
            raise nothing_to_serve(nursery.skipped)
        self.options = completed(self.options, nursery.kinds.values())
        for name, reason in nursery.skipped.items():
            log.warning("the job %s is not served here: %s", name, reason)
        refuse_unfit(nursery, self.options.children)
        info = self._info(nursery)
        with closing(self._store()) as store:
            store.refuse_unsafe(connections_needed=3 + self.options.children + connections(nursery.kinds.values()))
            apply_limits(store, self.options.limits.values())
            store.register_worker(info)
        parts = self._assemble(nursery, info)
        try:
            self._live(*parts)
        finally:
            self._end(*parts)

    def _info(self, nursery: Nursery) -> WorkerInfo:
        return WorkerInfo(
            token=secrets.token_hex(12),
            host=socket.gethostname(),
            pid=os.getpid(),
            version=__version__,
            kinds=sorted(nursery.kinds),
            queues=list(self.options.queues),
        )

    def _assemble(self, nursery: Nursery, info: WorkerInfo) -> "tuple[Pump, Upkeeper, Warden]":
        options, address = self.options, parse(self.options.database)
        control = Control(fence=Fence(limit=options.timing.fence), one_writer=address.family == "sqlite")
        store = self._store()
        pump = Pump(
            options=options,
            store=store,
            worker=info.token,
            crew=Crew(options=options, nursery=nursery),
            lanes=lanes_for(options.queues, nursery.kinds.values()),
            control=control,
            random=self.random,
            hints=hints_for(address, options.prefix, store),
        )
        upkeeper = Upkeeper(
            options=options,
            store=self._store(patience=max(2.0, options.timing.beat)),  # whoever waits for locks does not beat
            info=info,
            control=control,
            random=Random(self.random.random()),
            on_restart_mark=self._told_to_restart,
        )
        return pump, upkeeper, Warden(control=control)

    def _store(self, patience: float | None = None) -> Store:
        store = Store.open(self.options.database, prefix=self.options.prefix, patience=patience)
        store.tally = self.tally
        return store

    def _told_to_restart(self) -> None:
        self.asked_to_stop = max(self.asked_to_stop, 1)

    def _live(self, pump: Pump, upkeeper: Upkeeper, warden: Warden) -> None:
        threads = [
            threading.Thread(target=self._guarded, args=(pump.run, pump.control), name="pump", daemon=True),
            threading.Thread(target=self._guarded, args=(upkeeper.run, pump.control), name="upkeeper", daemon=True),
        ]
        for thread in threads:
            thread.start()
        self.manager.say("READY=1", f"STATUS=working on {', '.join(self.options.queues)}")
        log.info("working", extra={"worker": upkeeper.info.token, "queues": ",".join(self.options.queues)})
        self._watch_over(threads[0], pump.control, warden)
        self.manager.say("STOPPING=1")

    def _guarded(self, work: Callable[[], None], control: Control) -> None:
        """A thread that fails takes the worker down in order: a worker that is half alive helps nobody."""
        try:
            work()
        except BaseException as trouble:
            log.critical("the worker fails", exc_info=trouble)
            self.failure = trouble
            control.stopping = control.abandoned = True
            control.wake()
        finally:
            control.thread_ended()

    def _watch_over(self, pump_thread: threading.Thread, control: Control, warden: Warden) -> None:
        given_up_at: float | None = None
        while pump_thread.is_alive():
            self._hear_stops(control, warden)
            wait = warden.tick()
            self._feed_watchdog(control)
            if control.abandoned and given_up_at is None:
                given_up_at = time.monotonic() + _LAST_SECONDS
            if warden.shutdown_at is not None and time.monotonic() > warden.shutdown_at + warden.shutdown_grace + _LAST_SECONDS:
                control.abandoned = True
            if given_up_at is not None and time.monotonic() > given_up_at:
                log.error("the database does not answer; what was in hand is left to the rescue")
                return
            control.warden_waits(min(wait, self._longest_wait()))

    def _longest_wait(self) -> float:
        return min(1.0, self.manager.watchdog / 4) if self.manager.watchdog else 1.0

    def _hear_stops(self, control: Control, warden: Warden) -> None:
        if self.asked_to_stop == self.stop_heard:
            return
        first, self.stop_heard = self.stop_heard == 0, self.asked_to_stop
        grace = self.options.grace
        warden.shut_down(within=grace if first else 0.0, grace=5.0 if first else _QUICK_SECONDS)
        log.info("stopping" if first else "stopping now", extra={"grace": grace if first else 0})
        self.manager.say("STOPPING=1")
        control.stopping = True
        control.wake()

    def _feed_watchdog(self, control: Control) -> None:
        if self.manager.watchdog and time.monotonic() - control.pump_at < max(_STUCK_SECONDS, self.manager.watchdog):
            self.manager.say("WATCHDOG=1")

    def _end(self, pump: Pump, upkeeper: Upkeeper, warden: Warden) -> None:
        """Whatever happened: no child stays behind, and the table hears that this worker has gone."""
        for slot in list(pump.crew.slots):
            slot.kill()
        upkeeper.stop()
        with suppress(Cron2QueueError), closing(self._store()) as store:
            store.retire_worker(upkeeper.info.token)
            store.roll_up()
        proctree.kill_orphans(pump.crew.nursery.pids)


def apply_limits(store: Store, limits: Iterable[QueueSettings]) -> None:
    """The plan's limits of queues, where nothing stands in the table yet: what an operator has set stays."""
    for limit in limits:
        rule = store.controls().queue(limit.name)
        wanted = {
            "concurrency": limit.concurrency if rule.concurrency is None else None,
            "depth": limit.depth_limit if rule.depth_limit is None else None,
            "age": limit.age_limit if rule.age_limit is None else None,
        }
        missing = {name: value for name, value in wanted.items() if value is not None}
        if missing:
            store.set_limit("queue", limit.name, by="plan", **missing)


def nothing_to_serve(skipped: Mapping[str, str]) -> UsageError:
    """Why a worker would stand idle; a plan whose jobs are all another user's is not an empty one."""
    if not skipped:
        return UsageError("there is no handler to work with", remedy="name a plan with jobs to queue, or --handlers MODULE")
    reasons = "; ".join(f"{name}: {reason}" for name, reason in sorted(skipped.items()))
    return UsageError(f"none of the plan's jobs can be served here: {reasons}", remedy="start a worker as that user")


def completed(options: WorkerOptions, kinds: Iterable[HandlerOptions]) -> WorkerOptions:
    """Queues and number of children, where the command line leaves them open: every queue of a known kind."""
    queues = dict(options.queues) or {each.queue: options.widths.get(each.queue, 1) for each in kinds}
    children = options.children or max(1, min(sum(queues.values()), 2 * (os.cpu_count() or 1)))
    return replace(options, queues=queues, children=children)
