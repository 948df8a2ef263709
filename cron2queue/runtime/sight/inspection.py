"""Everything that an operator's command reads, in short looks that stay quick with ten million rows.

    with Inspection.open("sqlite:///jobs.db") as inspection:
        inspection.status()

Counts stop at a cap, percentiles come from the newest jobs, lists walk an index from its end: no look scans a table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, func, select

from cron2queue.runtime.database.prefix import PREFIX
from cron2queue.runtime.jobs import JobState
from cron2queue.runtime.retention import Retention
from cron2queue.runtime.settings import QueueSettings
from cron2queue.runtime.sight import dead, figures, jobs, letters, listing, upkeep, workers
from cron2queue.runtime.sight.connection import Source, connected, database_now, source
from cron2queue.runtime.sight.jobs import JobFilter
from cron2queue.runtime.sight.listing import Listing
from cron2queue.runtime.sight.overview import Overview
from cron2queue.runtime.sight.queues import paused_kinds
from cron2queue.runtime.sight.views import (
    COUNT_CAP,
    ActionView,
    Count,
    DeadView,
    JobView,
    LettersView,
    MissedTick,
    QueueView,
    StatusView,
    Total,
    WorkerView,
)
from cron2queue.runtime.tables import Tables, tables

MOST_TICKS = 20_000
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

    def status(
        self, *, planned: Mapping[str, QueueSettings] | None = None, missed: Iterable[MissedTick] = (), cap: int = COUNT_CAP
    ) -> StatusView:
        """The one screen. `planned` are the plan's queues: shown even when nothing lies in them yet."""
        with connected(self.source) as connection:
            now, skew = self._clocks(connection)
            look = Overview(connection=connection, tables=self.tables, now=now, planned=planned or {}, cap=cap)
            died = look.dead()
            return StatusView(
                at=now,
                database=self.source.shown,
                queues=look.queues(),
                workers=look.workers(),
                unclaimed=look.unclaimed(),
                missed=tuple(missed),
                paused_kinds=paused_kinds(connection, self.tables, now),
                dead=died.groups,
                dead_looked_at=died.looked_at if died.partial else None,
                dead_letters=look.dead_letters(),
                clock_skew=skew,
            )

    def _clocks(self, connection: Connection) -> tuple[datetime, float]:
        """The database's time, and how far this host's clock is ahead of it."""
        began = datetime.now(UTC)
        now = database_now(self.source, connection)
        return now, (began + (datetime.now(UTC) - began) / 2 - now).total_seconds()

    def totals(self) -> tuple[list[Total], int]:
        """The roll-ups since ever, and how many jobs were accepted since the table was made."""
        with connected(self.source) as connection:
            enqueued = connection.execute(select(func.max(self.tables.jobs.c.id))).scalar() or 0
            return figures.totals(connection, self.tables), int(enqueued)

    def queues(self, *, planned: Mapping[str, QueueSettings] | None = None) -> tuple[QueueView, ...]:
        """Every queue that has jobs, a row of its own, or a place in the plan."""
        with connected(self.source) as connection:
            now = database_now(self.source, connection)
            return Overview(connection=connection, tables=self.tables, now=now, planned=planned or {}).queues()

    def actions_on(self, target: str) -> tuple[ActionView, ...]:
        """What operators did to a queue (or, as `all`, to everything), oldest first."""
        with connected(self.source) as connection:
            return jobs.actions_on(connection, self.tables, target)

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

    def letters(self, wanted: JobFilter) -> LettersView:
        """What the broker gave up since the filter's `ended_since`, by default in the last day, grouped."""
        with connected(self.source) as connection:
            return letters.letters(connection, self.tables, wanted, database_now(self.source, connection))

    def ended(self, after: datetime, until: datetime, states: Sequence[JobState]) -> tuple[JobView, ...]:
        """Jobs that ended so within this time, with their attempts, oldest end first; MOST_ENDED at most."""
        with connected(self.source) as connection:
            return jobs.ended(connection, self.tables, after, until, states)

    def older(self, keep: Retention) -> dict[str, Count]:
        """What has outlived its time: ended jobs by state, messages and lines of the log; each counted up to a million."""
        with connected(self.source) as connection:
            return upkeep.older(connection, self.tables, database_now(self.source, connection), keep)

    def dead_ids(self, wanted: JobFilter) -> list[str]:
        """Public ids of all dead jobs that fit, queue by queue, in the order in which they were accepted."""
        with connected(self.source) as connection:
            return list(dead.ids(connection, self.tables, wanted))
