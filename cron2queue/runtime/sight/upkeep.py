"""What upkeep has before it: rows that have outlived their time."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, select

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
        rows["log"] = select(log.id).where(log.done_at < now - timedelta(days=keep.log))
    return {what: capped(connection, chosen, MOST_OLDER) for what, chosen in rows.items()}
