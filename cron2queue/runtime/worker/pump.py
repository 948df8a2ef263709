"""The pump: claims, feeds the children, takes their answers and settles. One thread, one connection, no waiting on jobs."""

import logging
import select
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from cron2queue.errors import Cron2QueueError
from cron2queue.runtime.jobs import Job, RetryAt, Settlement
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker.control import Control
from cron2queue.runtime.worker.crew import Crew
from cron2queue.runtime.worker.endings import Endings
from cron2queue.runtime.worker.hints import Hint, HintLost
from cron2queue.runtime.worker.lanes import Lane, Mode
from cron2queue.runtime.worker.looks import has_work
from cron2queue.runtime.worker.nursery import TemplateFailed
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.settlers import Settlers
from cron2queue.runtime.worker.slots import Slot
from cron2queue.runtime.worker.telling import tell
from cron2queue.runtime.worker.unwritten import Unwritten

log = logging.getLogger("cron2queue.worker")

_CLOCK_SECONDS = 0.002  # the database's clock decides when a job is due; ask it a moment later than by ours
_LONGEST_PAUSE = 5.0
_EARLY_SECONDS = 0.005  # so long after a write its commit is there; who knows of the commit sends a datagram behind it


@dataclass(slots=True, kw_only=True)
class Pump:
    """Runs until the worker is to stop and nothing is in hand (or, draining, until nothing is left to do)."""

    options: WorkerOptions
    store: Store
    worker: str
    crew: Crew
    lanes: list[Lane]
    control: Control
    random: Random
    hints: list[Hint] = field(default_factory=list)
    poll: select.poll = field(default_factory=select.poll)
    handlers: dict[int, Callable[[], None]] = field(default_factory=dict)
    waiting: Unwritten = field(default_factory=Unwritten)
    completed: list[Settlement] = field(default_factory=list)
    next_lane: int = 0
    pause_until: float = 0.0
    failures: int = 0
    reconcile_at: float = 0.0
    endings: Endings = field(init=False)
    settlers: Settlers = field(init=False)

    def __post_init__(self) -> None:
        self.settlers = Settlers(self.store, one_writer=self.control.one_writer)
        self.endings = Endings(
            crew=self.crew,
            lanes=self.lanes,
            random=self.random,
            settle=self._finished,
            complete=self.completed.append,
            lose=self._lost,
        )
        self._watch(self.control.wake_fd, self.control.drain_wakes)
        for hint in self.hints:
            self._watch(hint.descriptor, partial(self._hinted, hint))
        self.reconcile_at = time.monotonic() + self.options.timing.reconcile

    def _watch(self, descriptor: int, act: Callable[[], None]) -> None:
        self.handlers[descriptor] = act
        self.poll.register(descriptor, select.POLLIN)

    def _hinted(self, hint: Hint) -> None:
        try:
            hint.drain()
        except HintLost:
            self.poll.unregister(hint.descriptor)
            log.warning("a hint is lost; this worker polls")
            return
        if hint.early:  # a look while the writer holds its lock would make both wait
            soon = time.monotonic() + _EARLY_SECONDS
            for lane in self.lanes:
                lane.next_look = min(lane.next_look, soon)
        else:
            self.look_now()

    def look_now(self) -> None:
        """Something may have become ready in any queue."""
        for lane in self.lanes:
            lane.look_now()

    def run(self) -> None:
        """The loop. Leaves only when every job is settled or given back, or the worker has to go at once."""
        while not self._is_over():
            self.control.pump_turned()
            self._wait()
            self._act()

    def _is_over(self) -> bool:
        if self.control.abandoned:
            return True
        in_hand = self.waiting or self.completed or any(slot.assigned for slot in self.crew.slots)
        if in_hand:
            return False
        return self.control.stopping or (self.options.drain and self._is_drained())

    def _is_drained(self) -> bool:
        """Nothing in hand, and the last look at every queue found nothing: ask the table whether that was all."""
        if any(lane.next_look == 0.0 for lane in self.lanes):
            return False
        return not has_work(self.store, self.options.queues, sorted(self.crew.nursery.kinds))

    def _wait(self) -> None:
        for descriptor, _ in self.poll.poll(self._milliseconds()):
            if act := self.handlers.get(descriptor):
                act()

    def _milliseconds(self) -> int:
        now = time.monotonic()
        times = [now + self.options.timing.poll]
        if self.waiting:
            times.append(max(self.pause_until, self._settle_due()))
        if self.completed:
            times.append(self.pause_until)
        if not self.control.stopping:
            times += [max(lane.next_look, self.pause_until) for lane in self.lanes if self._room(lane)]
        return max(0, int((min(times) - now) * 1000 + 0.999))

    def _settle_due(self) -> float:
        """At once, unless further answers of short jobs are on their way."""
        if self.waiting.alone or len(self.waiting.group) >= self.options.group or not self._group_at_work():
            return 0.0
        return self.waiting.since + self.options.timing.settle

    def _group_at_work(self) -> bool:
        return any(len(slot.assigned) > 1 for slot in self.crew.slots if not slot.threads)

    def _act(self) -> None:
        now = time.monotonic()
        if self.control.looks:
            self.control.looks = False
            self.look_now()
        if now < self.pause_until:
            return
        try:
            self._settle_and_claim(now)
            self._upkeep(now)
            self.failures = 0
        except Cron2QueueError as trouble:
            self._database_trouble(trouble)

    def _settle_and_claim(self, now: float) -> None:
        lanes = self._hungry(now)
        due = bool(self.waiting) and now >= self._settle_due()
        for lane in lanes:
            self._claim_in(lane)
        if self.waiting.alone:
            self._settle_each()
        elif due and not lanes:
            self._settle()

    def _hungry(self, now: float) -> list[Lane]:
        if self.control.stopping or self.control.is_fenced():
            return []
        count = len(self.lanes)
        self.next_lane = (self.next_lane + 1) % max(1, count)
        turned = self.lanes[self.next_lane :] + self.lanes[: self.next_lane]
        eager = bool(self.waiting) and now >= self._settle_due()  # a commit is due anyway: claim with it
        return [lane for lane in turned if (eager or now >= lane.next_look) and self._room(lane)]

    def _room(self, lane: Lane) -> int:
        """How many jobs to claim. Who has a commit for each end can run faster than it can write, and must not run ahead."""
        if lane.mode is Mode.GROUP and len(self.waiting.alone) >= self.options.group:
            return 0
        return self.crew.room(lane)

    def _claim_in(self, lane: Lane) -> None:
        wanted = self._room(lane)
        if not wanted:
            return
        jobs = self._ask(lane, wanted, self.waiting.for_one_commit())
        lane.looked(len(jobs), wanted, time.monotonic(), self.options.timing, self.random)
        if jobs and (self.control.stopping or self.control.is_fenced()):  # while the claim was under way
            self._give_back(jobs)
            return
        if lane.mode is Mode.GROUP and jobs:
            jobs = self._without_suspects(lane, jobs)
        if jobs:
            self._give(lane, jobs)

    def _without_suspects(self, lane: Lane, jobs: list[Job]) -> list[Job]:
        """A job that was with a worker or child that died may have been the cause: it never stands in a group.

        All but the first of those are given back, and the lane goes on one by one while such jobs come.
        """
        suspects = [job for job in jobs if job.crashes]
        lane.cautious = bool(suspects)
        if not suspects:
            return jobs
        alone = suspects[:1] if not lane.in_flight else []
        rest = [job for job in jobs if job not in alone]
        self._give_back(rest)
        return alone

    def _give_back(self, jobs: list[Job]) -> None:
        with self.control.database_turn:
            self.store.release(jobs)

    def _ask(self, lane: Lane, wanted: int, batch: list[Settlement]) -> list[Job]:
        self.control.pump_turned()
        with self.control.database_turn:
            if any(_pauses_kind(each) for each in batch):  # what follows has to go by the new pause
                self._settled(batch, self.store.settle(batch))
                batch = []
            if not batch:
                return self.store.claim(lane.queue, kinds=lane.kinds, limit=wanted, worker=self.worker)
            held, jobs = self.store.settle_and_claim(batch, lane.queue, kinds=lane.kinds, limit=wanted, worker=self.worker)
        self._settled(batch, held)
        return jobs

    def _give(self, lane: Lane, jobs: list[Job]) -> None:
        known = {id(slot) for slot in self.crew.slots}
        try:
            self.crew.give(lane, jobs)
        except (TemplateFailed, OSError) as trouble:  # no child could be made: what was claimed is given back
            log.error("no child could be made: %s", trouble)
            self.crew.recount(self.lanes)
            self.reconcile_at = 0.0
            self._pause(_LONGEST_PAUSE)
        for slot in self.crew.slots:
            if id(slot) not in known:
                self._watch_slot(slot)
            if slot.jobs.is_behind:
                self.poll.modify(slot.jobs.socket.fileno(), select.POLLIN | select.POLLOUT)

    def _watch_slot(self, slot: Slot) -> None:
        self._watch(slot.jobs.socket.fileno(), lambda: self._heard(slot))
        self._watch(slot.pidfd, lambda: self._died(slot))
        self.control.slots_changed(self.crew.slots)

    def _heard(self, slot: Slot) -> None:
        if slot.jobs.is_behind and slot.jobs.flush() and not slot.jobs.closed:
            self.poll.modify(slot.jobs.socket.fileno(), select.POLLIN)
        for message in slot.jobs.receive():
            self._take(slot, message)
        if slot.jobs.closed:
            with suppress(KeyError):
                self.poll.unregister(slot.jobs.socket.fileno())
        elif not slot.assigned and not slot.retiring and self.crew.is_spent(slot):
            self.crew.retire(slot)

    def _take(self, slot: Slot, message: list[Any]) -> None:
        if message[0] == "progress":
            _, number, fraction, phase = message
            if assignment := slot.assigned.get(number):
                assignment.progress = (fraction, phase)
                self.control.has_progress = True
            return
        if message[0] == "completed":
            if assignment := slot.assigned.get(message[1]):
                assignment.completed = True
            return
        if message[0] == "plain":
            self.endings.finished(slot, message[1])
        else:
            self.endings.answered(slot, message)

    def _died(self, slot: Slot) -> None:
        for descriptor in (slot.jobs.socket.fileno(), slot.pidfd):
            with suppress(KeyError):
                self.poll.unregister(descriptor)
            self.handlers.pop(descriptor, None)
        for message in slot.jobs.receive():
            self._take(slot, message)
        self.endings.died(slot)
        self.control.slots_changed(self.crew.slots)

    def _finished(self, settlement: Settlement, *, strict: bool, shortage: bool) -> None:
        self.waiting.add(settlement, strict=strict)
        if shortage:
            self._pause(1.0)

    def _settle(self) -> None:
        batch = self.waiting.for_one_commit()
        self.control.pump_turned()
        with self.control.database_turn:
            held = self.store.settle(batch)
        self._settled(batch, held)

    def _settle_each(self) -> None:
        batch = self.waiting.for_a_commit_each()
        self.control.pump_turned()
        with self.control.database_turn:
            answers = self.settlers.settle(batch)
        troubles = {number: each for number, each in enumerate(answers) if isinstance(each, Exception)}
        self.waiting.written_each(batch, still=[batch[number] for number in troubles])
        self._tell((each, held) for each, held in zip(batch, answers, strict=True) if isinstance(held, bool))
        for trouble in troubles.values():
            raise trouble

    def _settled(self, batch: list[Settlement], held: list[bool]) -> None:
        self.waiting.written(batch)
        self._tell(zip(batch, held, strict=True))

    def _tell(self, ends: Iterable[tuple[Settlement, bool]]) -> None:
        for settlement, kept in ends:
            if kept and settlement.retry_delay is not None:
                self.control.expect_due(time.monotonic() + settlement.retry_delay + _CLOCK_SECONDS)
            if kept:
                tell(settlement)
            else:
                _tell_loss(settlement.job)

    def _lost(self, job: Job) -> None:
        """Its child was told to end, or has noticed by itself: nothing is written, and nobody else counts it."""
        self.store.tally.count(job.queue, job.kind, "lease_lost")
        _tell_loss(job)

    def _upkeep(self, now: float) -> None:
        if now >= self.reconcile_at:
            self.reconcile()
        if self.control.has_progress:
            self._write_progress()
        if self.completed:
            with self.control.database_turn:
                self.store.complete(self.completed)
            self.completed.clear()

    def reconcile(self) -> None:
        """Give back what the table says is ours and nobody here knows of: a claim whose answer was lost."""
        with self.control.database_turn:
            given_back = self.store.reconcile(self.worker, self.held())
        self.reconcile_at = time.monotonic() + self.options.timing.reconcile
        if given_back:
            log.warning("gave back %d jobs that no child had", given_back)

    def held(self) -> set[str]:
        """The leases of all jobs that are in hand: with a child, or with their end still to be written."""
        return {each.job.lease.token for each in self.crew.assignments()}.union(self.waiting.tokens())

    def _write_progress(self) -> None:
        if not self.control.progress_is_due():
            return
        for slot in self.crew.slots:
            for assignment in list(slot.assigned.values()):
                if assignment.progress is None:
                    continue
                (fraction, phase), assignment.progress = assignment.progress, None
                with self.control.database_turn:
                    kept = self.store.progress(assignment.job, fraction, phase)
                if not kept:
                    self.control.lost(slot, assignment)

    def _database_trouble(self, trouble: Cron2QueueError) -> None:
        """Nothing of it is a job's fault: keep what is in hand, wait, try the same again."""
        self.failures += 1
        self._pause(min(_LONGEST_PAUSE, 0.1 * 2 ** min(self.failures, 10)))
        self.reconcile_at = 0.0
        log.error("the database: %s", trouble.message, extra={"failures": self.failures})

    def _pause(self, seconds: float) -> None:
        self.pause_until = time.monotonic() + seconds * self.random.uniform(0.5, 1.0)


def _tell_loss(job: Job) -> None:
    log.warning("lease lost", extra={"job": job.public_id, "kind": job.kind})


def _pauses_kind(settlement: Settlement) -> bool:
    return isinstance(settlement.outcome, RetryAt) and settlement.outcome.pause_kind_seconds is not None
