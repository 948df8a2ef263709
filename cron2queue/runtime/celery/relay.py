"""The relay: sends the ids of ready jobs to the broker, and sends again what must have been lost on the way.

The job table is the outbox. What is `ready` there and not known here as sent is sent; nothing is noted anywhere but in
this process, so that a kill at any point costs a few second messages at most, and these find a row that is claimed or done.
At most `window` ids of a queue are at the broker at one time, the best priorities first: the backlog stays in the table,
where it is counted, limited, paused and put in order.
"""

import logging
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from cron2queue.errors import TryAgain
from cron2queue.runtime.backend import marks
from cron2queue.runtime.celery.letters import MOST
from cron2queue.runtime.celery.publishing import Ready
from cron2queue.runtime.store import Store
from cron2queue.runtime.verbs import given_up
from cron2queue.runtime.verbs.given_up import Letter
from cron2queue.runtime.worker.upkeeper import Watcher

log = logging.getLogger("cron2queue.relay")

_DEAD_LETTERS_EVERY = 5.0


class Broker(Protocol):
    """What the relay needs of a broker."""

    def send(self, queue: str, rows: Sequence[Ready]) -> list[Ready]:
        """Returns those that are safe there; the others were refused. Raises when that is not known."""

    def waiting(self, queue: str) -> int:
        """How many messages wait in a queue."""

    def dead_letters(self) -> AbstractContextManager[list[Letter]]:
        """The first of what was given up: taken at the end of the block, kept after an error in it."""


@dataclass(slots=True)
class Sent:
    """What was sent for one row: for which of its times of being ready, and when (CLOCK_MONOTONIC)."""

    since: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayOptions:
    """`kinds` by queue. `window`: ids at the broker at one time; `again`: seconds after which a lost one is sent anew.

    `lease`: seconds, the same for all workers of the database.
    """

    kinds: dict[str, tuple[str, ...]]
    window: int = 500
    again: float = 60.0
    lease: float = 30.0


@dataclass(slots=True, kw_only=True)
class Relay:
    """Rounds over all queues. `sent` holds nothing that is not ready any more."""

    store: Store
    broker: Broker
    options: RelayOptions
    clock: Callable[[], float] = time.monotonic
    name: str = field(default_factory=lambda: f"relay@{socket.gethostname()}")
    sent: dict[str, dict[str, Sent]] = field(default_factory=dict)
    dead_letters_at: float = 0.0
    rescue_at: float = 0.0
    watcher: Watcher = field(init=False)

    def __post_init__(self) -> None:
        self.watcher = Watcher(lease=self.options.lease)

    def round(self) -> int:
        """Bring back and over what is due, and send what is not at the broker; how many messages were sent."""
        if self.clock() >= self.rescue_at:
            self.rescue_at = self.clock() + self.options.lease / 5
            self._rescue()
        self.store.move_due()
        self.store.forget_controls()
        number = sum(self._queue(queue, kinds) for queue, kinds in self.options.kinds.items())
        if self.clock() >= self.dead_letters_at:
            self.dead_letters_at = self.clock() + _DEAD_LETTERS_EVERY
            self._take_dead_letters()
        return number

    def is_ahead(self) -> bool:
        """Whether every queue that has anything at the broker has plenty there, so that no worker waits for the next round."""
        return all(2 * len(sent) >= self.options.window for sent in self.sent.values() if sent)

    def _rescue(self) -> None:
        """Take jobs back from workers that stood still for a whole lease, also when no worker is left to do it."""
        for worker, counter in self.watcher.observe(self.store.beats(), self.clock(), but=""):
            if rescued := self.store.rescue(worker, counter_seen=counter, by="relay"):
                log.warning("rescued %d jobs from a worker that stood still", len(rescued), extra={"worker": worker})
                self.store.roll_up()

    def _queue(self, queue: str, kinds: Sequence[str]) -> int:
        sent = self.sent.setdefault(queue, {})
        if self.store.controls().queue(queue).paused:
            sent.clear()  # what its messages find now is a closed door: after the pause all are sent anew
            return 0
        # Counted before the rows are read: who is claimed in between makes fewer rows, never a message too few.
        at_broker = self.broker.waiting(queue) if self._any_overdue(sent) else None
        rows = self._ready(queue, kinds)
        self._forget_gone(sent, rows)
        lost = at_broker is not None and at_broker < len(sent)
        if lost:
            log.info("fewer messages at the broker than ready jobs: sent again", extra={"queue": queue, "at_broker": at_broker})
        return self._send(queue, [row for row in rows if self._is_missing(sent.get(row.public_id), lost)])

    def _send(self, queue: str, rows: Sequence[Ready]) -> int:
        taken = self.broker.send(queue, rows) if rows else []
        now = self.clock()
        self.sent[queue] |= {row.public_id: Sent(row.since, now) for row in taken}
        if refused := len(rows) - len(taken):
            raise TryAgain(f"the broker refuses {refused} messages of queue {queue}", remedy="look for its limits and alarms")
        return len(taken)

    def _is_missing(self, known: Sent | None, lost: bool) -> bool:
        return known is None or (lost and self._is_overdue(known))

    def _any_overdue(self, sent: dict[str, Sent]) -> bool:
        return any(map(self._is_overdue, sent.values()))

    def _is_overdue(self, known: Sent) -> bool:
        return self.clock() - known.at >= self.options.again

    def _ready(self, queue: str, kinds: Sequence[str]) -> list[Ready]:
        """The first rows of the queue, in the order and by the index of a claim."""
        query = (
            "SELECT public_id, kind, priority, ready_at FROM {jobs} WHERE queue = ? AND state = 'ready' "
            f"AND kind IN ({marks(len(kinds))}) ORDER BY priority, id LIMIT ?"
        )
        parameters = (queue, *kinds, self.options.window)
        return self.store.sessions.read(
            lambda session: [Ready(row[0], row[1], row[2], int(row[3] or 0)) for row in session.rows(query, parameters)]
        )

    @staticmethod
    def _forget_gone(sent: dict[str, Sent], rows: Sequence[Ready]) -> None:
        """Claimed, ended, or ready for another time since (a retry): no message of ours stands for it."""
        since = {row.public_id: row.since for row in rows}
        for public_id in [name for name, known in sent.items() if since.get(name) != known.since]:
            del sent[public_id]

    def _take_dead_letters(self) -> None:
        """Written down, then taken. Nothing is lost with them, since the rows are where they were.

        Those still ready are sent again at once; what is given up once more within the minute has to wait until it is
        overdue, for nobody would gain from sending it in a ring.
        """
        with self.broker.dead_letters() as letters:
            if not letters:
                return
            recorded = self.store.sessions.unit(lambda session: given_up.record(session, self.name, letters))
        for line in recorded.new:
            log.warning(
                "the broker gave up a message for %s: %s; %s",
                line.public_id or "no job of ours",
                line.reason,
                line.became,
                extra={name: value for name, value in (("kind", line.kind), ("queue", line.queue)) if value},
            )
            for sent in self.sent.values():
                sent.pop(line.public_id, None)
        for (queue, kind, series), n in given_up.counts(recorded, *self._names()).items():
            self.store.tally.count(queue, kind, series, n)
        self.store.roll_up()
        if len(letters) == MOST:
            self.dead_letters_at = self.clock()  # there are more

    def _names(self) -> tuple[set[str], set[str]]:
        """The plan's queues and kinds."""
        return set(self.options.kinds), {kind for kinds in self.options.kinds.values() for kind in kinds}
