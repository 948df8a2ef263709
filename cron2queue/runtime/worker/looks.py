"""What a worker asks the table beside its verbs: whether anything is left to do, and whether it is told to restart."""

from collections.abc import Iterable, Sequence
from typing import Any

from cron2queue.runtime.backend import marks
from cron2queue.runtime.store import Store

SOON_SECONDS = 60.0  # a retry that is due within this time belongs to what a draining worker does

# One statement, since a job may pass from one state to another between two.
_LEFT = (
    "SELECT id FROM (SELECT id FROM {jobs} WHERE queue = ? AND kind IN (%s) "
    "AND state IN ('ready', 'blocked', 'running', 'cancel_requested') LIMIT 1) AS now_left "
    "UNION ALL SELECT id FROM (SELECT id FROM {jobs} WHERE due_at <= {now} + ? AND queue = ? AND kind IN (%s) LIMIT 1) AS soon"
)


def has_work(store: Store, queues: Iterable[str], kinds: Sequence[str]) -> bool:
    """Whether any job of these queues and kinds is ready, held, running, or due soon; paused queues do not count."""
    store.forget_controls()
    return any(_queue_has_work(store, queue, kinds) for queue in queues if not store.controls().queue(queue).paused)


def _queue_has_work(store: Store, queue: str, kinds: Sequence[str]) -> bool:
    some = marks(len(kinds))
    soon = int(SOON_SECONDS * 1e6)
    return _value(store, _LEFT % (some, some), (queue, *kinds, soon, queue, *kinds)) is not None


def _value(store: Store, query: str, parameters: Sequence[Any] = ()) -> Any:
    return store.sessions.read(lambda session: session.value(query, parameters))


def restart_mark(store: Store) -> int:
    """The count of restarts that operators have asked for; a worker stops when it grows."""
    return int(_value(store, "SELECT restart_mark FROM {controls} WHERE id = 1") or 0)
