"""What producers count: jobs that a full queue refused, and jobs that were there already.

A refusal writes nothing, and a caller's transaction is the caller's. So these figures go to the roll-ups in transactions
of their own, written by a thread at once and then each second; a store that is closed and a process that ends write what is
left. They wait a second for locks at most, and lock their rows in the order in which workers do: nobody waits in a ring.

Figures, not promises: they never fail a producer, and one that is killed takes its last ones with it.
"""

import atexit
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from cron2queue.errors import Cron2QueueError
from cron2queue.runtime.verbs import rollups
from cron2queue.runtime.verbs.tally import Tally

if TYPE_CHECKING:
    from cron2queue.runtime.backend import Backend
    from cron2queue.runtime.database.session import Session, Sessions
    from cron2queue.runtime.jobs import NewJob
    from cron2queue.runtime.verbs.tally import Count

REFUSED: Final = "refused"
DUPLICATES: Final = "duplicates"
FIRST_SECONDS: Final = 0.05
EVERY_SECONDS: Final = 1.0
LONGEST_PAUSE: Final = 60.0  # between two tries while the database is away


class ProducerCounts:
    """The figures of one store. `sessions` are its own, with little patience; a fork begins at nothing."""

    def __init__(self, sessions: "Sessions", backend: "Backend") -> None:
        self._sessions = sessions
        self._backend = backend
        self._begin_anew()
        _alive.add(self)

    def _begin_anew(self) -> None:
        self._pid = os.getpid()
        self._tally = Tally()
        self._thread: threading.Thread | None = None
        self._away = False  # the last try failed
        self._starting, self._writing = threading.Lock(), threading.Lock()

    def count(self, series: str, jobs: Iterable["NewJob"]) -> None:
        """Count these jobs; no statement is executed here."""
        counted = Counter((job.queue, job.kind) for job in jobs)
        if not counted:
            return
        if self._pid != os.getpid():  # what the parent has counted, it writes itself; its locks may be held for ever here
            self._begin_anew()
        with self._starting:
            for (queue, kind), n in counted.items():
                self._tally.count(queue, kind, series, n)
            if self._thread is None:
                self._start()

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="cron2queue-counts", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter ends: the next call or the end of the process writes
            return
        self._thread = thread

    def _run(self) -> None:
        """Write what has come, soon and then at most once a second, until nothing more comes."""
        pause = FIRST_SECONDS
        while True:
            time.sleep(pause)
            with self._starting:
                if self._tally.is_empty:
                    self._thread = None
                    return
            pause = EVERY_SECONDS if self.write() else min(max(2 * pause, EVERY_SECONDS), LONGEST_PAUSE)

    def write(self) -> bool:
        """Add what is counted to the roll-ups. False: it could not be, and is kept for the next time."""
        if self._pid != os.getpid():
            return True
        with self._writing:  # what the thread is just writing is waited for
            if self._tally.is_empty:
                return True
            counts = self._tally.take()
            try:
                self._sessions.unit(lambda session: self._add(session, counts))
            except Cron2QueueError:
                self._tally.give_back(counts)
                self._away = True
            else:
                self._away = False
            finally:
                self._sessions.close()
        return not self._away

    def finish(self) -> None:
        """Write what is left before the store is closed or the process ends; a database that is away is not waited for."""
        if not self._away:
            self.write()

    def _add(self, session: "Session", counts: list["Count"]) -> None:
        for statement in session.driver.short_waits:
            session.run(statement)
        rollups.add(session, self._backend, counts)


_alive: "weakref.WeakSet[ProducerCounts]" = weakref.WeakSet()


@atexit.register
def _write_all() -> None:
    for each in list(_alive):
        each.finish()
