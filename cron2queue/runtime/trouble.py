"""What can go wrong at the job table, as types: each knows its exit status and says what to do."""

from cron2queue.errors import Cron2QueueError, DatabaseUnavailable, Refused, TryAgain, UsageError

NEWER = "upgrade cron2queue here, or take the step back with the newer release"


class JobRefused(UsageError):
    """The job cannot be stored as it stands: a name, a size, a depth or an encoding is out of bounds."""


class QueueFull(TryAgain):
    """The queue is over its depth or age limit; nothing was written."""

    def __init__(self, message: str, *, queue: str = "", remedy: str | None = None, place: str | None = None) -> None:
        super().__init__(message, remedy=remedy, place=place)
        self.queue = queue


class DatabaseBusy(TryAgain):
    """Others held their locks longer than was worth waiting for; nothing was written."""


class RetryTransaction(TryAgain):
    """The database rolled the caller's own transaction back; only its owner can run it again from its beginning."""


class OutcomeUnknown(DatabaseUnavailable):
    """The connection broke during COMMIT: it may or may not have happened. Repeat with the same key or token only."""


class LeaseLost(Cron2QueueError):
    """The job belongs to another by now (or has ended); whatever was done under this lease was rolled back."""


class UnsafeDatabase(Refused):
    """The database would break a promise (isolation, character set, durability, host); nothing was started."""


class SchemaMismatch(Refused):
    """The tables are missing, or older or newer than this release can work with."""


class DriverMissing(UsageError):
    """The Python driver of this database is not installed."""


class StatementFailed(Cron2QueueError):
    """The database refused a statement for a reason that running it again does not change, and that nobody has foreseen."""

    exit_status = 70
