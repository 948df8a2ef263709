"""How jobs leave the hands of a child: by its answer, or by its death."""

import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from cron2queue.runtime.jobs import PLAINLY_DONE, AttemptRecord, Job, Settlement
from cron2queue.runtime.worker.crew import Crew
from cron2queue.runtime.worker.lanes import Lane
from cron2queue.runtime.worker.settling import settlement_of
from cron2queue.runtime.worker.slots import Assignment, Slot
from cron2queue.runtime.worker.statuses import Ending, signal_name
from cron2queue.runtime.worker.stops import CANCEL, FENCED, LOST, MEMORY, SHUTDOWN, TIMEOUT

log = logging.getLogger("cron2queue.worker")

# What it means for a job that its child was killed for this reason.
_KILLED_FOR = {
    TIMEOUT: Ending.TIMEOUT,
    CANCEL: Ending.CANCELLED,
    SHUTDOWN: Ending.RELEASED,
    MEMORY: Ending.OUT_OF_MEMORY,
    FENCED: Ending.RELEASED,
    LOST: Ending.LOST_LEASE,
}
_DONE = str(Ending.DONE)
# Once a job was asked to stop, an answer that is no clear end of its own is the end that was asked for.
_OWN_ENDS = frozenset({Ending.DONE, Ending.PERMANENT, Ending.RETRY})


class Settle(Protocol):
    """Takes a settlement to be written."""

    def __call__(self, settlement: Settlement, *, strict: bool, shortage: bool) -> None:
        """`strict`: in a commit of its own; `shortage`: this host lacks something, claim less eagerly."""


@dataclass(slots=True, kw_only=True)
class Endings:
    """Turns answers and deaths into settlements."""

    crew: Crew
    lanes: list[Lane]
    random: Random
    settle: Settle
    complete: Callable[[Settlement], None]  # takes the record of a job that its own transaction has completed
    lose: Callable[[Job], None]  # takes a job that belongs to another by now

    def answered(self, slot: Slot, message: list[Any]) -> None:
        """The child says how a job ended."""
        word, number, seconds, said = message
        assignment = slot.take_back(number)
        if assignment is None:
            return
        ending = Ending(word)
        if assignment.stop_reason is not None and ending not in _OWN_ENDS:
            ending = _KILLED_FOR.get(assignment.stop_reason, ending)
        self._end(assignment, ending, said, seconds)

    def finished(self, slot: Slot, pairs: Sequence[tuple[int, float]]) -> None:
        """The child says of several jobs that they are done, and in how many seconds; there is no more to say of them."""
        seconds = dict(pairs)
        for assignment in slot.take_back_all(seconds):
            self.lanes[assignment.lane].in_flight -= 1
            number, job = assignment.work
            record = AttemptRecord(job.waited_seconds, seconds[number], outcome_name=_DONE)
            self.settle(Settlement(job, PLAINLY_DONE, None, record), strict=assignment.options.strict, shortage=False)

    def died(self, slot: Slot) -> None:
        """The child has ended. Its running job bears the reason, what it had not begun is given back."""
        left = list(slot.assigned.values())
        guilty = {each.work.number for each in slot.running()} if slot.condemned is None else {slot.condemned[0]}
        begun = {each.work.number for each in left if slot.begun(each)}
        done = _done(slot, left)
        began_at = slot.pulse.began_at
        wait_status, peak = self.crew.remove(slot)
        code = os.waitstatus_to_exitcode(wait_status)
        for assignment in left:
            slot.take_back(assignment.work.number)
            number = assignment.work.number
            if number not in begun:
                self._end(assignment, Ending.RELEASED, {}, None)
            elif number in done:
                self._end(assignment, Ending.DONE, {}, done[number])
            elif number in guilty:
                self._end(assignment, *self._reason(slot, code, peak), _since(began_at))
            else:
                self._end(assignment, *_bystander(slot), None)
        if left and slot.condemned is None:
            log.error("a child ended unexpectedly", extra={"pid": slot.process.pid, "code": code})

    def _reason(self, slot: Slot, code: int, peak: int) -> tuple[Ending, dict[str, Any]]:
        said: dict[str, Any] = {"max_rss_bytes": peak}
        if slot.condemned is not None:
            return _KILLED_FOR.get(slot.condemned[1], Ending.CRASHED), said
        if code < 0:
            said |= {"signal": -code, "diagnostic": f"its process was ended by {signal_name(-code)}, not by this worker"}
            return Ending.SIGNAL, said
        return Ending.CRASHED, {**said, "exit_status": code, "diagnostic": f"its process left with exit status {code}"}

    def _end(self, assignment: Assignment, ending: Ending, said: dict[str, Any], seconds: float | None) -> None:
        self.lanes[assignment.lane].in_flight -= 1
        options = assignment.options
        if assignment.completed:
            if ending is not Ending.DONE:
                facts = {"job": assignment.job.public_id, "kind": assignment.job.kind, "ending": ending}
                log.warning("completed by its transaction; its handler failed after that", extra=facts)
            self.complete(settlement_of(assignment.job, options, Ending.DONE, said, seconds, self.random))
            return
        if ending is Ending.LOST_LEASE:
            self.lose(assignment.job)
            return
        settlement = settlement_of(assignment.job, options, ending, said, seconds, self.random)
        self.settle(settlement, strict=options.strict, shortage=bool(said.get("shortage")))


def _done(slot: Slot, left: list[Assignment]) -> dict[int, float]:
    """Jobs that were done although their answers had not gone yet, with their seconds."""
    if slot.threads:
        return {}
    seconds = {each.work.number: slot.pulse.done_in(each.ordinal) for each in left}
    return {number: taken for number, taken in seconds.items() if taken is not None}


def _bystander(slot: Slot) -> tuple[Ending, dict[str, Any]]:
    """A job that ran in a child that was killed for another's sake, or whose answer was lost with its child."""
    if slot.condemned is not None and (slot.threads or slot.condemned[1] in (SHUTDOWN, FENCED)):
        return Ending.RELEASED, {}
    return Ending.RETRY, {"message": "its answer was lost with its process", "delay": 0.0}


def _since(began_at: float) -> float:
    import time

    return max(0.0, time.monotonic() - began_at)
