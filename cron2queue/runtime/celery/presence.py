"""The relay among the workers: a row that beats while rounds succeed, so that others see whether one is at work."""

import os
import secrets
import socket
import time
from dataclasses import dataclass, field

from cron2queue import __version__
from cron2queue.runtime.jobs import WorkerInfo
from cron2queue.runtime.store import Store
from cron2queue.runtime.worker.looks import restart_mark


def _info() -> WorkerInfo:
    """It serves no queue and knows no kind: that is how it is told from a worker."""
    token, host = secrets.token_hex(12), socket.gethostname()
    return WorkerInfo(token=token, host=host, pid=os.getpid(), version=__version__, kinds=(), queues=())


@dataclass(slots=True, kw_only=True)
class Presence:
    """Beats every so many seconds, and hears with it when operators want all processes to start anew."""

    store: Store
    every: float
    info: WorkerInfo = field(default_factory=_info)
    mark: int | None = None
    due_at: float = 0.0

    def tell(self) -> bool:
        """After a round that succeeded; whether this process is to end for new code."""
        if time.monotonic() < self.due_at:
            return False
        self.due_at = time.monotonic() + self.every
        if not self.store.beat(self.info.token):  # its first beat, or it stood still for so long that its row was taken away
            self.store.register_worker(self.info)
        before, self.mark = self.mark, restart_mark(self.store)
        return before is not None and self.mark != before

    def end(self) -> None:
        """Take the row away."""
        self.store.retire_worker(self.info.token)
