"""What was counted, added up in the database: by periods of five minutes for a day, and since ever (period 0).

Each worker writes a few rows every some seconds, and so does a producer that was refused or met its job; by primary key
and in the order of it, so that two never wait for each other in a ring. Figures, not promises: a COMMIT whose answer was
lost is repeated, and may then count twice.
"""

from collections.abc import Sequence
from typing import Final

from cron2queue.runtime.backend import Backend
from cron2queue.runtime.database.session import Session
from cron2queue.runtime.verbs.tally import PERIOD_SECONDS, Count

KEPT_SECONDS: Final = 25 * 3600
EVER: Final = 0
_PRUNE_BATCH: Final = 500
_KEY: Final = "period = ? AND kind = ? AND queue = ? AND series = ? AND rung = ?"


def add(session: Session, backend: Backend, counts: Sequence[Count]) -> None:
    """Add the counts to the present period and to the sums since ever."""
    now = int(session.value("SELECT {now}")) // 1_000_000
    keyed = [
        ((period, each.kind, each.queue, each.series, each.rung), each.n)
        for period in (EVER, now - now % PERIOD_SECONDS)
        for each in counts
    ]
    for key, n in sorted(keyed):
        _add_one(session, backend, key, n)


def _add_one(session: Session, backend: Backend, key: tuple[int, str, str, str, int], n: int) -> None:
    update = f"UPDATE {{rollups}} SET n = n + ? WHERE {_KEY}"
    if session.changed(update, (n, *key)):
        return
    insert = "INSERT INTO {rollups} (n, period, kind, queue, series, rung) VALUES (?, ?, ?, ?, ?, ?)"
    if not backend.try_write(session, insert, (n, *key)):
        session.run(update, (n, *key))


def prune(session: Session) -> int:
    """Periods older than a day go, one small batch by primary key."""
    before = int(session.value("SELECT {now}")) // 1_000_000 - KEPT_SECONDS
    query = "SELECT period, kind, queue, series, rung FROM {rollups} WHERE period > 0 AND period < ? ORDER BY period LIMIT ?"
    rows = session.rows(query, (before, _PRUNE_BATCH))
    for row in sorted(rows):
        session.run(f"DELETE FROM {{rollups}} WHERE {_KEY}", row)
    return len(rows)
