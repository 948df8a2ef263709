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
_SILENCE_SECONDS = 60.0  # after which the servers end a transaction, as our connections ask them to
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


class TransactionTooLong(Exception):
    """The connection was lost after so long a time that the server may have ended the transaction for its silence."""

    def __init__(self) -> None:
        super().__init__(
            f"the database ended the transaction, which was open for more than {_SILENCE_SECONDS:.0f} s: "
            "do what takes long before job.transaction()"
        )


@contextmanager
def told_apart(driver: Driver) -> Iterator[None]:
    """Raise DatabaseInterfered for what passes by itself; everything else comes through as it is.

    Raises TransactionTooLong, which counts as an attempt, where the job would else be given back for ever.
    """
    began = time.monotonic()
    try:
        yield
    except Exception as error:
        lost = isinstance(error, DatabaseUnavailable) or driver.code_of(error) is Failure.GONE
        if lost and time.monotonic() - began > _SILENCE_SECONDS:
            raise TransactionTooLong from error
        if lost or isinstance(error, TryAgain) or driver.code_of(error) in _PASSING:
            raise DatabaseInterfered(str(error)) from error
        raise
