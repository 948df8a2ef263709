"""The lock that a job's plan names: held while its handler runs, so that no line of a crontab runs beside it."""

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.locks import locking

AGAIN_SECONDS = 2.0  # a lock tells nobody that it is free


class RunsElsewhere(Exception):
    """Another run holds the job's lock: the handler was not called."""


class NotLocked(Exception):
    """Whether the job's lock is free could not be found out: the handler was not called."""


_NO_LOCK = nullcontext()


def under_lock(options: HandlerOptions) -> AbstractContextManager[None]:
    """Hold the lock of a kind, if it has one. Raises RunsElsewhere or NotLocked."""
    return _NO_LOCK if options.lock is None else _holding(options.lock, options.lock_folder)


@contextmanager
def _holding(name: str, folder: str | None) -> Iterator[None]:
    held = _take(name, folder)
    try:
        yield
    finally:
        held.release()


def _take(name: str, folder: str | None) -> locking.HeldFile:
    try:
        place = locking.open_folder(locking.lock_folder(None, os.environ, folder))
        try:
            held = locking.lock_file(place, name, wait=False)
        finally:
            os.close(place)
    except locking.LockHeld as busy:
        raise RunsElsewhere(busy.message) from None
    except locking.LockTrouble as trouble:
        raise NotLocked(str(trouble)) from None
    if threading.current_thread() is threading.main_thread():
        # What the job starts holds it too, and goes on to when this process is killed. Beside other jobs it cannot be told
        # whose program that would be.
        os.set_inheritable(held.descriptor, True)
    return held
