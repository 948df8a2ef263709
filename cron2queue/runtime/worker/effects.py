"""Transactions of handlers: what the database does to them is told apart from what the handler does wrong."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from cron2queue.errors import DatabaseUnavailable, TryAgain
from cron2queue.runtime.database.driver import Driver, Failure

if TYPE_CHECKING:
    from cron2queue.runtime.store import Store

_PATIENCE_SECONDS = 15.0
_PASSING = frozenset({Failure.AGAIN, Failure.GONE, Failure.REFUSING})


class DatabaseInterfered(Exception):
    """A deadlock, a lost connection or a lock ended the handler's transaction: the job is given back, and not blamed."""


def begin(make: Callable[[], AbstractContextManager[Any]], store: "Store", stack: ExitStack) -> Any:
    """Enter the transaction; while others hold the lock for it, again. Nothing has happened yet, so that is harmless."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return stack.enter_context(make())
        except Exception as error:
            if store.driver.code_of(error) is not Failure.AGAIN or time.monotonic() >= until:
                raise
        time.sleep(random.uniform(0.001, 0.05))


@contextmanager
def told_apart(driver: Driver) -> Iterator[None]:
    """Raise DatabaseInterfered for what passes; everything else comes through as it is."""
    try:
        yield
    except (DatabaseUnavailable, TryAgain) as error:
        raise DatabaseInterfered(str(error)) from error
    except Exception as error:
        if driver.code_of(error) in _PASSING:
            raise DatabaseInterfered(str(error)) from error
        raise
