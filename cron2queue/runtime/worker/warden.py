"""The warden: ends jobs whose time or memory is used up, that are cancelled, or that this worker may no longer hold.

It never speaks to the database, so nothing that hangs there can keep it from stopping a child in time.
"""

import time
from dataclasses import dataclass, field

from cron2queue.runtime.worker.control import Control
from cron2queue.runtime.worker.slots import Assignment, Slot
from cron2queue.runtime.worker.stops import CANCEL, FENCED, MEMORY, SHUTDOWN, TIMEOUT

# A command is ended by its own child after the grace; the child itself only if that did not happen.
_BACKSTOP_SECONDS = 0.5
_MEMORY_LOOK_SECONDS = 0.2
_IDLE_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class Warden:
    """Looks at every running job; `tick` returns the seconds until it has to look again."""

    control: Control
    memory_at: float = 0.0
    fenced: bool = False
    shutdown_at: float | None = None
    shutdown_grace: float = 5.0
    seen: set[int] = field(default_factory=set)

    def tick(self) -> float:
        """One look."""
        now = time.monotonic()
        if self.control.is_fenced():
            self._fence()
        else:
            self.fenced = False
        look_at_memory = now >= self.memory_at
        if look_at_memory:
            self.memory_at = now + _MEMORY_LOOK_SECONDS
        running = [(slot, assignment) for slot in self.control.slots for assignment in slot.running()]
        waits = [self._look(slot, assignment, now, look_at_memory) for slot, assignment in running]
        self._forget_cancelled()
        return max(0.0, min(waits, default=_IDLE_SECONDS))

    def _look(self, slot: Slot, assignment: Assignment, now: float, look_at_memory: bool) -> float:
        options = assignment.options
        wait = _IDLE_SECONDS
        if options.timeout is not None and assignment.stop_reason is None:
            left = slot.began_at(assignment) + options.timeout - now
            if left <= 0:
                slot.ask_to_stop(assignment, TIMEOUT, options.grace + _BACKSTOP_SECONDS)
            wait = min(wait, max(left, 0.0))
        if assignment.job.id in self.control.cancelled:
            slot.ask_to_stop(assignment, CANCEL, options.grace + _BACKSTOP_SECONDS if options.force_cancel else None)
        if self.shutdown_at is not None and now >= self.shutdown_at:
            grace = min(self.shutdown_grace, options.grace)
            slot.ask_to_stop(assignment, SHUTDOWN, grace)
            last = self.shutdown_at + grace
            assignment.kill_at = last if assignment.kill_at is None else min(assignment.kill_at, last)
        if options.memory_bytes is not None:
            wait = min(wait, _MEMORY_LOOK_SECONDS)
            if look_at_memory and slot.rss_bytes() > options.memory_bytes:
                slot.kill_for(assignment, MEMORY)
        if assignment.kill_at is not None:
            wait = min(wait, max(0.0, assignment.kill_at - now))
            if now >= assignment.kill_at:
                slot.kill_for(assignment, assignment.stop_reason or CANCEL)
        return wait

    def _fence(self) -> None:
        """Before the lease can run out, no child of this worker may be at work."""
        if self.fenced:
            return
        self.fenced = True
        for slot in self.control.slots:
            for assignment in slot.running():
                slot.kill_for(assignment, FENCED)

    def _forget_cancelled(self) -> None:
        if self.control.cancelled:
            held = {each.job.id for slot in self.control.slots for each in list(slot.assigned.values())}
            self.control.cancelled &= held

    def shut_down(self, *, within: float, grace: float) -> None:
        """From now on: let jobs finish for `within` seconds, then stop them, and KILL after `grace`."""
        due = time.monotonic() + within
        self.shutdown_at = due if self.shutdown_at is None else min(self.shutdown_at, due)
        self.shutdown_grace = min(self.shutdown_grace, grace)
