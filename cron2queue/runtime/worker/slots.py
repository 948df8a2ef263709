"""The supervisor's view of one child: what it was given, what of it has begun, and how it is stopped."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import Job
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.wire import Channel, Pulse, encoded, handed
from cron2queue.runtime.worker.work import Work


@dataclass(slots=True, kw_only=True)
class Assignment:
    """One job in a child's hands. `ordinal` counts what this child was given; the pulse counts what it has begun.

    `completed`: by its own transaction, so that nothing of what its handler still does can change how it ended.
    """

    work: Work
    options: HandlerOptions
    lane: int
    ordinal: int
    assigned_at: float
    stop_reason: str | None = None
    kill_at: float | None = None
    progress: tuple[float | None, str] | None = None
    completed: bool = False

    @property
    def job(self) -> Job:
        """The claimed job."""
        return self.work.job


@dataclass(slots=True, kw_only=True)
class Slot:
    """A child process. `condemned` is set before it is killed: the number of the job, and why."""

    process: proctree.Process
    pidfd: int
    jobs: Channel
    control: Channel
    pulse: Pulse
    threads: int = 0
    born: float = field(default_factory=time.monotonic)
    handed: int = 0
    answered: int = 0
    assigned: dict[int, Assignment] = field(default_factory=dict)
    condemned: tuple[int, str] | None = None
    retiring: bool = False
    turn: threading.Lock = field(default_factory=threading.Lock)

    def give(self, works: Sequence[tuple[Work, HandlerOptions]], lane: int) -> None:
        """Hand jobs over."""
        now = time.monotonic()
        with self.turn:
            for work, options in works:
                self.handed += 1
                self.assigned[work.number] = Assignment(
                    work=work, options=options, lane=lane, ordinal=self.handed, assigned_at=now
                )
        self.jobs.send(handed([work.to_wire() for work, _ in works]))

    def take_back(self, number: int) -> Assignment | None:
        """The child has answered for this job."""
        with self.turn:
            found = self.assigned.pop(number, None)
            if found is not None:
                self.answered += 1
            return found

    def take_back_all(self, numbers: Iterable[int]) -> list[Assignment]:
        """The same for several; those that it does not have are left out."""
        with self.turn:
            found = [each for number in numbers if (each := self.assigned.pop(number, None)) is not None]
            self.answered += len(found)
            return found

    def begun(self, assignment: Assignment) -> bool:
        """Whether the child has begun this job; beside others, or after all that it was given before."""
        return bool(self.threads) or assignment.ordinal <= self.pulse.begun

    def running(self) -> list[Assignment]:
        """The jobs at work in this moment, as far as their answers have not arrived."""
        if self.threads:
            return list(self.assigned.values())
        begun = self.pulse.begun
        return [each for each in list(self.assigned.values()) if each.ordinal == begun]

    def began_at(self, assignment: Assignment) -> float:
        """When it began, on CLOCK_MONOTONIC."""
        return assignment.assigned_at if self.threads else max(assignment.assigned_at, self.pulse.began_at)

    def ask_to_stop(self, assignment: Assignment, reason: str, kill_after: float | None) -> None:
        """Tell the child, and TERM what the handler has started; KILL is due after the grace, if given at all."""
        with self.turn:
            if assignment.stop_reason is not None:
                return
            assignment.stop_reason = reason
            assignment.kill_at = None if kill_after is None else time.monotonic() + kill_after
            self.control.send(encoded([assignment.work.number, reason]))
        for each in proctree.descendants(self.process.pid):
            proctree.send(each, signal.SIGTERM)

    def kill_for(self, assignment: Assignment, reason: str) -> bool:
        """KILL the child and its tree because of this job; False when the job has just ended.

        The child is stopped before the last look: no other job can be hit.
        """
        with self.turn:
            if self.condemned is not None:
                return True
            proctree.send(self.process, signal.SIGSTOP)
            if assignment.work.number not in self.assigned or not (self.threads or assignment.ordinal == self.pulse.begun):
                proctree.send(self.process, signal.SIGCONT)
                return False
            self.condemned = (assignment.work.number, reason)
        self.kill()
        return True

    def kill(self) -> None:
        """KILL the whole tree: descendants first, since none can leave it while the child is there."""
        proctree.send(self.process, signal.SIGSTOP)
        proctree.kill_tree(self.process.pid)
        proctree.send(self.process, signal.SIGKILL)

    def rss_bytes(self) -> int:
        """Resident memory of the child and what it has started."""
        tree = [self.process.pid, *(each.pid for each in proctree.descendants(self.process.pid))]
        return proctree.rss_bytes(tree)

    def close(self) -> None:
        """Let go of everything that belongs to the child."""
        self.jobs.close()
        self.control.close()
        self.pulse.close()
        with suppress(OSError):
            os.close(self.pidfd)


def socket_pairs() -> tuple[tuple[socket.socket, socket.socket], tuple[socket.socket, socket.socket]]:
    """Two pairs: jobs and answers, and stops."""
    return socket.socketpair(), socket.socketpair()
