"""Running: producers, the job table and workers. Knows nothing of the toolkit above it.

The names that handlers and applications use are offered here, and loaded only when they are asked for: a producer line
that cron starts each minute pays for none of them.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cron2queue.runtime.access import JobAccess, JobStatus, NotDone, NotFound
    from cron2queue.runtime.handlers import Cancelled, Permanent, RetryLater, TimedOut, handler
    from cron2queue.runtime.jobs import Enqueued, Forever, NewJob, Period, WhileActive
    from cron2queue.runtime.store import Store
    from cron2queue.runtime.trouble import LeaseLost, QueueFull
    from cron2queue.runtime.worker.command import CommandFailed, run_command
    from cron2queue.runtime.worker.context import JobContext

__all__ = [
    "Cancelled",
    "CommandFailed",
    "Enqueued",
    "Forever",
    "JobAccess",
    "JobContext",
    "JobStatus",
    "LeaseLost",
    "NewJob",
    "NotDone",
    "NotFound",
    "Period",
    "Permanent",
    "QueueFull",
    "RetryLater",
    "Store",
    "TimedOut",
    "WhileActive",
    "handler",
    "run_command",
]

_HOMES = {
    "access": ("JobAccess", "JobStatus", "NotDone", "NotFound"),
    "handlers": ("Cancelled", "Permanent", "RetryLater", "TimedOut", "handler"),
    "jobs": ("Enqueued", "Forever", "NewJob", "Period", "WhileActive"),
    "store": ("Store",),
    "trouble": ("LeaseLost", "QueueFull"),
    "worker.command": ("CommandFailed", "run_command"),
    "worker.context": ("JobContext",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
