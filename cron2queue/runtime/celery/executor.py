"""What runs jobs in one process of Celery's pool: the parts of a cron2queue worker, with Celery's message as its claim.

The process beats, rescues, moves and prunes like any worker, and stands in the table of workers as one. Handlers run in a
child of their own, so that time, memory and cancels end the whole tree of a job and nothing else.
"""

import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random

from cron2queue import __version__
from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime.celery.deliveries import DeliveredStore, Delivery, DeliveryPump
from cron2queue.runtime.jobs import WorkerInfo
from cron2queue.runtime.prctl import become_subreaper
from cron2queue.runtime.store import Store
from cron2queue.runtime.verbs.tally import Tally
from cron2queue.runtime.worker.control import Control
from cron2queue.runtime.worker.crew import Crew
from cron2queue.runtime.worker.fence import Fence
from cron2queue.runtime.worker.lanes import lanes_for
from cron2queue.runtime.worker.nursery import Nursery
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.settlers import connections
from cron2queue.runtime.worker.supervisor import apply_limits
from cron2queue.runtime.worker.upkeeper import Upkeeper
from cron2queue.runtime.worker.warden import Warden

log = logging.getLogger("cron2queue.worker")

_END_SECONDS = 10.0


class ExecutorFailed(Cron2QueueError):
    """The parts of the worker in this process have failed; what was in hand is left to the rescue."""

    exit_status = 70


@dataclass(slots=True)
class Executor:
    """One process's worker; made after the fork, by the thread that runs tasks, which is also the warden."""

    options: WorkerOptions
    nursery: Nursery
    pump: DeliveryPump
    upkeeper: Upkeeper
    warden: Warden
    threads: list[threading.Thread] = field(default_factory=list)
    failure: BaseException | None = None

    @classmethod
    def start(cls, options: WorkerOptions) -> "Executor":
        """Load the handlers and sign on. Raises Cron2QueueError when that cannot be."""
        if threading.current_thread() is not threading.main_thread():
            raise UsageError("jobs need a process of Celery's pool each", remedy="start the worker with --pool prefork")
        become_subreaper()
        nursery = Nursery(options)
        nursery.start()
        try:
            executor = cls(options, nursery, *_assembled(options, nursery))
        except BaseException:
            nursery.close()
            raise
        executor._begin()
        return executor

    def _begin(self) -> None:
        for name, work in (("pump", self.pump.run), ("upkeeper", self.upkeeper.run)):
            thread = threading.Thread(target=self._guarded, args=(work,), name=name, daemon=True)
            thread.start()
            self.threads.append(thread)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as trouble:
            log.critical("the worker fails", exc_info=trouble)
            self.failure = trouble
        finally:
            self.pump.control.wake_warden()

    def run(self, delivery: Delivery) -> None:
        """Do what the message asks for; returns when its row is settled, or there is nothing to do (any more, or yet).

        Raises ExecutorFailed when this process cannot go on.
        """
        store, control = self.pump.store, self.pump.control
        assert isinstance(store, DeliveredStore)
        store.deliveries.add(delivery)
        control.look_now()
        while not delivery.over:
            if self.failure is not None:
                remedy = "its log tells why; Celery starts another"
                raise ExecutorFailed(f"the worker in this process failed: {self.failure}", remedy=remedy) from self.failure
            control.warden_waits(min(1.0, self.warden.tick()))

    def close(self) -> None:
        """End: no child stays behind, what was counted is kept, and the table hears that this worker has gone."""
        control = self.pump.control
        control.stopping = True
        control.wake()
        self.threads[0].join(_END_SECONDS)
        for slot in list(self.pump.crew.slots):
            slot.kill()
        self.upkeeper.stop()
        with suppress(Cron2QueueError), closing(Store.open(self.options.database, prefix=self.options.prefix)) as store:
            store.tally = self.pump.store.tally
            store.retire_worker(self.upkeeper.info.token)
            store.roll_up()
        self.nursery.close()


def _store(options: WorkerOptions, tally: Tally) -> Store:
    store = Store.open(options.database, prefix=options.prefix)
    store.tally = tally
    return store


def _assembled(options: WorkerOptions, nursery: Nursery) -> tuple[DeliveryPump, Upkeeper, Warden]:
    tally, random = Tally(), Random()
    info = WorkerInfo(
        token=secrets.token_hex(12),
        host=socket.gethostname(),
        pid=os.getpid(),
        version=__version__,
        kinds=sorted(nursery.kinds),
        queues=list(options.queues),
    )
    with closing(_store(options, tally)) as store:
        store.refuse_unsafe(connections_needed=2 + options.children + connections(nursery.kinds.values()))
        apply_limits(store, options.limits.values())
        store.register_worker(info)
    delivered = DeliveredStore.open(options.database, prefix=options.prefix)
    delivered.tally = tally
    control = Control(fence=Fence(limit=options.timing.fence), one_writer=delivered.driver.family == "sqlite")
    pump = DeliveryPump(
        options=options,
        store=delivered,
        worker=info.token,
        crew=Crew(options=options, nursery=nursery),
        lanes=lanes_for(options.queues, nursery.kinds.values()),
        control=control,
        random=random,
    )
    upkeeper = Upkeeper(
        options=options,
        store=_store(options, tally),
        info=info,
        control=control,
        random=Random(random.random()),
        on_restart_mark=partial(_stop_worker, os.getppid()),
    )
    return pump, upkeeper, Warden(control=control)


def _stop_worker(main: int) -> None:
    """Told to restart: Celery's own warm stop, after which the service manager starts the new code."""
    if os.getppid() == main:
        os.kill(main, signal.SIGTERM)
