"""All children of a worker: who is free, who takes which jobs, who is replaced."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import Job
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.lanes import Lane, Mode
from cron2queue.runtime.worker.nursery import Nursery
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.slots import Assignment, Slot
from cron2queue.runtime.worker.work import Work

_LOOK_AT_SIZE_EVERY = 64  # jobs; reading the size costs more than a short job


@dataclass(slots=True)
class Crew:
    """The children; made when they are needed, never more than the options allow."""

    options: WorkerOptions
    nursery: Nursery
    slots: list[Slot] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def room(self, lane: Lane) -> int:
        """How many jobs of this lane could be taken now."""
        if lane.mode is Mode.GROUP:
            return self._group_room(lane)
        left = lane.width - lane.in_flight
        if lane.mode is Mode.THREADS:
            return max(0, min(left, self.options.threads - lane.in_flight))
        return max(0, min(left, len(self._free()) + self._unborn()))

    def _group_room(self, lane: Lane) -> int:
        """Two groups a child: it works on one while the next is claimed. Asked for only when a group is missing."""
        if lane.cautious:
            return 0 if lane.in_flight else min(1, len(self._free()) + self._unborn())
        children = min(lane.width, len(self._of_group(lane)) + len(self._free()) + self._unborn())
        room = 2 * self.options.group * children - lane.in_flight
        return min(room, self.options.group * children) if room >= self.options.group else 0

    def _processes(self) -> list[Slot]:
        return [each for each in self.slots if not each.threads]

    def _unborn(self) -> int:
        return self.options.children - len(self._processes())

    def _free(self) -> list[Slot]:
        return [each for each in self._processes() if not each.assigned and _usable(each)]

    def _of_group(self, lane: Lane) -> list[Slot]:
        return [
            each
            for each in self._processes()
            if each.assigned and _usable(each) and next(iter(each.assigned.values())).lane == lane.number
        ]

    def give(self, lane: Lane, jobs: Sequence[Job]) -> None:
        """Hand claimed jobs to children; `room` was asked before, so there is one for each."""
        works = [(Work(number=next(self.numbers), job=job), self.nursery.kinds[job.kind]) for job in jobs]
        lane.in_flight += len(works)
        if lane.mode is Mode.THREADS:
            self._waiting_slot().give(works, lane.number)
        elif lane.mode is Mode.SINGLE:
            for work in works:
                self._next_free().give([work], lane.number)
        else:
            self._give_groups(lane, works)

    def _give_groups(self, lane: Lane, works: list[tuple[Work, HandlerOptions]]) -> None:
        """In equal shares, to the child that has least left; another child only while the lane may have one."""
        share = -(-len(works) // max(1, min(lane.width, self.options.children)))
        while works:
            self._emptiest(lane).give(works[:share], lane.number)
            works = works[share:]

    def _emptiest(self, lane: Lane) -> Slot:
        busy = self._of_group(lane)
        if len(busy) < lane.width:
            if free := self._free():
                return free[-1]
            if self._unborn() > 0:
                return self.born()
        return min(busy, key=lambda slot: len(slot.assigned))

    def _next_free(self) -> Slot:
        free = self._free()
        return free[-1] if free else self.born()  # the one used last has its pages in the cache

    def _waiting_slot(self) -> Slot:
        for each in self.slots:
            if each.threads and _usable(each):
                return each
        return self.born(threads=self.options.threads)

    def born(self, *, threads: int = 0) -> Slot:
        """One more child."""
        slot = self.nursery.make(threads=threads)
        self.slots.append(slot)
        return slot

    def is_spent(self, slot: Slot) -> bool:
        """Whether an idle child has done enough: number of jobs, age or size."""
        limits = self.options.recycling
        if slot.answered >= limits.jobs or time.monotonic() - slot.born >= limits.seconds:
            return True
        return slot.answered % _LOOK_AT_SIZE_EVERY == 0 and proctree.rss_bytes([slot.process.pid]) > limits.rss_bytes

    def retire(self, slot: Slot) -> None:
        """Give an idle child no more; it ends by itself when its channel is closed."""
        slot.retiring = True
        with suppress(OSError):
            slot.jobs.socket.shutdown(1)

    def remove(self, slot: Slot) -> tuple[int, int]:
        """A child has ended: collect it and what it left behind; wait status and peak memory in bytes."""
        pid, status, usage = os.wait4(slot.process.pid, 0)
        self.slots.remove(slot)
        slot.close()
        self.sweep()
        return (status if pid else 0), usage.ru_maxrss * 1024

    def recount(self, lanes: Sequence[Lane]) -> None:
        """Count anew what is in hand, after something went wrong between a claim and its children."""
        held = [each.lane for each in self.assignments()]
        for lane in lanes:
            lane.in_flight = held.count(lane.number)

    def sweep(self) -> int:
        """End every process that came to this one as an orphan: what dead children had started."""
        known = self.nursery.pids | {slot.process.pid for slot in self.slots}
        return proctree.kill_orphans(known)

    def assignments(self) -> list[Assignment]:
        """All jobs in the hands of children."""
        return [each for slot in self.slots for each in list(slot.assigned.values())]


def _usable(slot: Slot) -> bool:
    return not slot.retiring and slot.condemned is None and not slot.jobs.closed
