"""Everything that an operator's command reads, in short looks that stay quick with ten million rows.

    with Inspection.open("sqlite:///jobs.db") as inspection:
        inspection.status()

Counts stop at a cap, percentiles come from the newest jobs, lists walk an index from its end: no look scans a table.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, select

from cron2queue.runtime.prefix import PREFIX
from cron2queue.runtime.settings import QueueSettings
from cron2queue.runtime.sight import dead, figures, jobs, listing, queues, workers
from cron2queue.runtime.sight.connection import Source, connected, database_now, source
from cron2queue.runtime.sight.dead import Place
from cron2queue.runtime.sight.jobs import JobFilter
from cron2queue.runtime.sight.listing import Listing
from cron2queue.runtime.tables import Tables, tables
from cron2queue.runtime.views import (
    Count,
    DeadView,
    JobView,
    KindView,
    MissedTick,
    QueueView,
    StatusView,
    UnclaimedKind,
    WorkerView,
)

MOST_TICKS = 20_000
DEAD_IN_STATUS = 2_000  # of each queue: a status is asked for often
__all__ = ["Inspection", "JobFilter", "Listing"]


@dataclass(frozen=True, slots=True)
class Inspection:
    """A database that is looked at; it is never written to."""

    source: Source
    tables: Tables

    @classmethod
    def open(cls, url: str, *, prefix: str = PREFIX) -> Self:
        """Of this URL; nothing is connected yet. Raises UsageError for an URL of no known database."""
        return cls(source(url), tables(prefix))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the connections go."""
        self.source.engine.dispose()

    def now(self) -> datetime:
        """The database's clock."""
        with connected(self.source) as connection:
            return database_now(self.source, connection)

    def status(self, *, planned: Mapping[str, QueueSettings] | None = None, missed: Iterable[MissedTick] = ()) -> StatusView:
        """The one screen. `planned` are the plan's queues: shown even when nothing lies in them yet."""
        with connected(self.source) as connection:
            now = database_now(self.source, connection)
            registered = workers.workers(connection, self.tables, now)
            seen = self._queues(connection, now, planned or {})
            died = dead.dead(connection, self.tables, JobFilter(), DEAD_IN_STATUS)
            unclaimed = tuple(self._unclaimed(connection, seen, registered))
        return StatusView(
            at=now,
            database=self.source.shown,
            queues=seen,
            workers=registered,
            unclaimed=unclaimed,
            missed=tuple(missed),
            dead=died.groups,
        )

    def queues(self, *, planned: Mapping[str, QueueSettings] | None = None) -> tuple[QueueView, ...]:
        """Every queue that has jobs, a row of its own, or a place in the plan."""
        with connected(self.source) as connection:
            return self._queues(connection, database_now(self.source, connection), planned or {})

    def workers(self) -> tuple[WorkerView, ...]:
        """Every registered worker."""
        with connected(self.source) as connection:
            return workers.workers(connection, self.tables, database_now(self.source, connection))

    def jobs(self, wanted: JobFilter) -> Listing:
        """The newest jobs that fit."""
        with connected(self.source) as connection:
            return listing.listing(connection, self.tables, wanted)

    def job(self, public_id: str, *, owner: str | None = None) -> JobView | None:
        """One job with its history; None for no such job and for another owner's alike."""
        with connected(self.source) as connection:
            return jobs.job(connection, self.tables, public_id, owner=owner)

    def ids(self, beginning: str, *, owner: str | None = None) -> tuple[str, ...]:
        """Public ids that begin like this, two at most: enough to tell one from several."""
        with connected(self.source) as connection:
            return jobs.ids(connection, self.tables, beginning, owner=owner)

    def ticks(self) -> Mapping[str, datetime]:
        """The nominal time of the last tick of each entry."""
        with connected(self.source) as connection:
            seen = self.tables.ticks.c
            return {
                row.entry: row.last_nominal
                for row in connection.execute(select(seen.entry, seen.last_nominal).limit(MOST_TICKS))
            }

    def dead(self, wanted: JobFilter) -> DeadView:
        """The dead, grouped."""
        with connected(self.source) as connection:
            return dead.dead(connection, self.tables, wanted)

    def dead_ids(self, wanted: JobFilter, after: Place | None = None) -> tuple[list[str], Place | None]:
        """A batch of public ids of dead jobs that fit, oldest death first, and where the next batch begins; None at the end."""
        with connected(self.source) as connection:
            return dead.ids(connection, self.tables, wanted, after)

    def _queues(self, connection: Connection, now: datetime, planned: Mapping[str, QueueSettings]) -> tuple[QueueView, ...]:
        rows = queues.settings(connection, self.tables)
        sampled = figures.recent(connection, self.tables, now)
        counted = {} if sampled.complete else figures.rolled_up(connection, self.tables, now)
        kinds = figures.by_kind(sampled, counted)
        names = sorted({*queues.names(connection, self.tables), *planned})
        return tuple(self._queue(connection, now, name, rows.get(name), planned.get(name), kinds) for name in names)

    def _queue(
        self,
        connection: Connection,
        now: datetime,
        name: str,
        row: Any,
        plan: QueueSettings | None,
        kinds: Mapping[str, tuple[KindView, ...]],
    ) -> QueueView:
        counts = queues.counts(connection, self.tables, name)
        since = queues.oldest_ready(connection, self.tables, name, counts["ready"])
        view = QueueView(
            queue=name,
            counts=counts,
            oldest_ready_seconds=None if since is None else max(0.0, (now - since).total_seconds()),
            age_limit=plan.age_limit if plan else None,
            depth_limit=plan.depth_limit if plan else None,
            concurrency=plan.concurrency if plan else None,
            kinds=kinds.get(name, ()),
        )
        return view if row is None else _as_set(view, row)

    def _unclaimed(
        self, connection: Connection, seen: Iterable[QueueView], registered: tuple[WorkerView, ...]
    ) -> Iterable[UnclaimedKind]:
        """Only where some worker serves the queue: without any, the queue itself is the trouble."""
        known = workers.known_kinds(registered)
        for queue in seen:
            if queue.queue not in known or not queue.count("ready").n:
                continue
            for kind, n in sorted(queues.ready_kinds(connection, self.tables, queue.queue).items()):
                if kind not in known[queue.queue]:
                    yield UnclaimedKind(queue=queue.queue, kind=kind, jobs=Count(n=n, capped=queue.count("ready").capped))


def _as_set(view: QueueView, row: Any) -> QueueView:
    """What operators set at run time is in force, above the plan."""
    return replace(
        view,
        paused=row.paused_at is not None,
        paused_by=row.paused_by,
        age_limit=_first(row.age_limit, row.alert_age, view.age_limit),
        depth_limit=_first(row.depth_limit, row.alert_depth, view.depth_limit),
        concurrency=_first(row.concurrency, view.concurrency),
    )


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
