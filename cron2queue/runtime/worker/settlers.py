"""Ends of strict kinds: each in a commit of its own, and several commits under way at one time."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue

from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.jobs import Settlement
from cron2queue.runtime.store import Store

# A commit waits for the disk. Servers flush the commits that wait together in one go; more of them gain little.
AT_ONE_TIME = 4

Answer = bool | Exception
_Task = tuple[Settlement, int, SimpleQueue[tuple[int, Answer]]]


@dataclass(slots=True)
class Settlers:
    """Threads that settle, made when two ends first wait together. Each has a connection of its own.

    `one_writer`: on SQLite there is nothing to share, and the caller writes one after the other.
    """

    store: Store
    one_writer: bool
    tasks: SimpleQueue[_Task] = field(default_factory=SimpleQueue)
    started: bool = False

    def settle(self, settlements: Sequence[Settlement]) -> list[Answer]:
        """Whether each lease held, or the error because of which nobody knows; it returns when there is one for each."""
        if self.one_writer or len(settlements) == 1:
            return [self._settle(each) for each in settlements]
        self._start()
        answers: SimpleQueue[tuple[int, Answer]] = SimpleQueue()
        for number, each in enumerate(settlements):
            self.tasks.put((each, number, answers))
        found = dict(answers.get() for _ in settlements)
        return [found[number] for number in range(len(settlements))]

    def _start(self) -> None:
        if not self.started:
            self.started = True
            for number in range(AT_ONE_TIME):  # daemons: a database that hangs must not keep the worker from its end
                threading.Thread(target=self._serve, name=f"settler {number}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            settlement, number, answers = self.tasks.get()
            answers.put((number, self._settle(settlement)))

    def _settle(self, settlement: Settlement) -> Answer:
        try:
            return self.store.settle([settlement])[0]
        except Exception as trouble:
            return trouble


def connections(kinds: Iterable[HandlerOptions]) -> int:
    """How many connections the ends of these kinds need beside the worker's own."""
    return AT_ONE_TIME if any(each.strict for each in kinds) else 0
