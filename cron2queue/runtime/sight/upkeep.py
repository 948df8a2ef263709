"""What upkeep has before it: rows that have outlived their time."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from cron2queue.runtime.retention import Retention
from cron2queue.runtime.sight.queues import capped
from cron2queue.runtime.sight.views import Count
from cron2queue.runtime.tables import Tables

MOST_OLDER = 1_000_000


def older(connection: Connection, tables: Tables, now: datetime, keep: Retention) -> dict[str, Count]:
    """How many ended jobs of each state, processed messages (`inbox`) and lines of the operators' log (`log`) are older."""
    jobs, inbox, log = tables.jobs.c, tables.inbox.c, tables.operations.c
    rows = {
        state: select(jobs.id).where(jobs.finished_at < now - timedelta(days=days), jobs.state == state)
        for state, days in keep.of_states.items()
    }
    if keep.inbox is not None:
        rows["inbox"] = select(inbox.consumer).where(inbox.processed_at < now - timedelta(days=keep.inbox))
    if keep.log is not None:
        since = now - timedelta(days=keep.log)
        rows["log"] = select(log.id).where(log.id < _first_since(connection, tables, since), log.done_at < since)
    return {what: capped(connection, chosen, MOST_OLDER) for what, chosen in rows.items()}


def _first_since(connection: Connection, tables: Tables, since: datetime) -> int:
    """The number from which on lines of the operators' log are younger, by halving: their times have no index."""
    log = tables.operations.c
    low, high = 0, int(connection.execute(select(func.max(log.id))).scalar() or 0) + 1
    while low < high:
        middle = (low + high) // 2
        found = connection.execute(select(log.id, log.done_at).where(log.id >= middle).order_by(log.id).limit(1)).first()
        if found is None or found.done_at >= since:
            high = middle
        else:
            low = found.id + 1
    return low
