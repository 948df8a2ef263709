"""Messages on their way to becoming runs: each names one row, and ends when that row is no longer in this process's hands."""

import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from cron2queue.runtime.celery.broker import ADMISSION_SECONDS, PAUSE_SECONDS
from cron2queue.runtime.jobs import Job, Settlement
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker.pump import Pump


@dataclass(slots=True, kw_only=True)
class Delivery:
    """One message. `job` is set once its row is claimed; `over` once nothing is left to do for it here.

    `since` is its arrival (CLOCK_MONOTONIC). A job that is ready waits here for room under its queue's limit, but not for
    ever: then `put_back` says that the broker is to have its id again, by the job's `priority`.
    """

    public_id: str
    queue: str
    kind: str
    since: float
    job: Job | None = None
    over: bool = False
    put_back: bool = False
    priority: int = 0

    @classmethod
    def of(cls, public_id: str, queue: str, kind: str) -> "Delivery":
        """A message that has just arrived."""
        return cls(public_id=public_id, queue=queue, kind=kind, since=time.monotonic())


@dataclass(slots=True)
class Deliveries:
    """All messages in the hands of this process; read and written by the pump and by who waits for one."""

    open: list[Delivery] = field(default_factory=list)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def add(self, delivery: Delivery) -> None:
        """A message has arrived."""
        with self.turn:
            self.open.append(delivery)

    def waiting(self, queue: str, kinds: Collection[str]) -> list[Delivery]:
        """Those of this queue and these kinds whose rows are not claimed yet."""
        with self.turn:
            return [each for each in self.open if each.job is None and each.queue == queue and each.kind in kinds]

    def end(self, held: Collection[str]) -> bool:
        """End what was claimed under a lease that is not held any more, and forget what is over; whether any was."""
        with self.turn:
            for each in self.open:
                each.over = each.over or (each.job is not None and each.job.lease.token not in held)
            ended = [each for each in self.open if each.over]
            self.open = [each for each in self.open if not each.over]
        return bool(ended)


class DeliveredStore(Store):
    """A store whose claims are for the rows that messages have named, and for no others."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.deliveries = Deliveries()

    def claim(self, queue: str, *, kinds: Collection[str], limit: int, worker: str) -> list[Job]:
        """The rows of delivered messages that are this worker's from now on.

        A row that is claimed by another, or has ended, ends its message: the lease, not the message, is the right to run.
        So does a pause of its queue.
        """
        found: list[Job] = []
        for each in self.deliveries.waiting(queue, kinds)[:limit]:
            each.job = self.claim_job(each.public_id, queue, kinds=kinds, worker=worker)
            if each.job is not None:
                found.append(each.job)
            elif not self.is_ready(each.public_id):
                each.over = True
            else:
                self._be_patient(each)
        return found

    def _be_patient(self, waiting: Delivery) -> None:
        paused = self.controls().queue(waiting.queue).paused
        if time.monotonic() - waiting.since >= (PAUSE_SECONDS if paused else ADMISSION_SECONDS):
            if not paused:
                query = "SELECT priority FROM {jobs} WHERE public_id = ?"
                waiting.priority = self.sessions.read(lambda session: session.value(query, (waiting.public_id,))) or 0
            waiting.over, waiting.put_back = True, not paused

    def settle_and_claim(
        self, settlements: Sequence[Settlement], queue: str, *, kinds: Collection[str], limit: int, worker: str
    ) -> tuple[list[bool], list[Job]]:
        """One after the other: there is seldom more than one of each."""
        return self.settle(settlements), self.claim(queue, kinds=kinds, limit=limit, worker=worker)


class DeliveryPump(Pump):
    """The pump of a worker, fed by messages instead of by looks at the table."""

    def _act(self) -> None:
        super()._act()
        assert isinstance(self.store, DeliveredStore)
        if self.store.deliveries.end(self.held()):
            self.control.wake_warden()
