"""The parts of a status, from one connection at one moment."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection

from cron2queue.runtime.settings import QueueSettings
from cron2queue.runtime.sight import dead, figures, letters, queues, workers
from cron2queue.runtime.sight.jobs import JobFilter
from cron2queue.runtime.sight.views import (
    COUNT_CAP,
    Count,
    DeadView,
    KindView,
    LetterCount,
    QueueView,
    UnclaimedKind,
    WorkerView,
)
from cron2queue.runtime.tables import Tables

DEAD_LOOKED_AT = 2_000  # of each queue: a status is asked for often


@dataclass(frozen=True, kw_only=True)
class Overview:
    """One look. `planned` are the plan's queues, `cap` is where counting stops."""

    connection: Connection
    tables: Tables
    now: datetime
    planned: Mapping[str, QueueSettings]
    cap: int = COUNT_CAP

    def workers(self) -> tuple[WorkerView, ...]:
        """Every registered worker."""
        return self._workers

    def queues(self) -> tuple[QueueView, ...]:
        """Every queue that has jobs, a row of its own, or a place in the plan."""
        return self._queues

    def dead(self) -> DeadView:
        """The newest dead, grouped."""
        return dead.dead(self.connection, self.tables, JobFilter(), DEAD_LOOKED_AT)

    def dead_letters(self) -> tuple[LetterCount, ...]:
        """What the broker gave up in the last hour, by queue and reason."""
        return letters.of_the_hour(self.connection, self.tables, self.now)

    def unclaimed(self) -> tuple[UnclaimedKind, ...]:
        """Kinds that wait and that nobody knows."""
        return tuple(self._unclaimed())

    @cached_property
    def _workers(self) -> tuple[WorkerView, ...]:
        return workers.workers(self.connection, self.tables, self.now)

    @cached_property
    def _counted(self) -> Mapping[tuple[str, str], int]:
        return figures.counted(self.connection, self.tables, self.now, ("lease_lost", "refused", "duplicates"))

    @cached_property
    def _due(self) -> Mapping[str, tuple[datetime, Count]]:
        return queues.due(self.connection, self.tables, self.now)

    @cached_property
    def _queues(self) -> tuple[QueueView, ...]:
        rows = queues.settings(self.connection, self.tables)
        sampled = figures.recent(self.connection, self.tables, self.now)
        kinds = figures.by_kind(sampled, figures.rolled_up(self.connection, self.tables, self.now))
        names = sorted({*queues.names(self.connection, self.tables), *self.planned, *(queue for queue, _ in self._counted)})
        return tuple(self._queue(name, rows.get(name), kinds.get(name, ())) for name in names)

    def _queue(self, name: str, row: Any, kinds: tuple[KindView, ...]) -> QueueView:
        plan = self.planned.get(name)
        view = QueueView(
            queue=name,
            counts={},
            age_limit=plan.age_limit if plan else None,
            depth_limit=plan.depth_limit if plan else None,
            concurrency=plan.concurrency if plan else None,
            kinds=kinds,
            refused=self._counted.get((name, "refused"), 0),
            duplicates=self._counted.get((name, "duplicates"), 0),
            lease_lost=self._counted.get((name, "lease_lost"), 0),
        )
        return self._filled(view if row is None else _as_set(view, row, self.now))

    def _filled(self, view: QueueView) -> QueueView:
        """With what lies in it, counted as far as its depth limit reaches."""
        counts = queues.counts(self.connection, self.tables, view.queue, max(self.cap, view.depth_limit or 0))
        ready_since = queues.oldest_ready(self.connection, self.tables, view.queue, counts["ready"])
        due_since, due = self._due.get(view.queue, (None, Count()))
        since = min((each for each in (ready_since, due_since) if each is not None), default=None)
        age = None if since is None else max(0.0, (self.now - since).total_seconds())
        return replace(view, counts=counts, due=due, oldest_ready_seconds=age)

    def _unclaimed(self) -> Iterator[UnclaimedKind]:
        """Only where some worker serves the queue: without any, the queue itself is the trouble."""
        known = workers.known_kinds(self._workers)
        for queue in self._queues:
            ready = queue.count("ready")
            if queue.queue not in known or not ready.n:
                continue
            for kind, n in sorted(queues.ready_kinds(self.connection, self.tables, queue.queue).items()):
                if kind not in known[queue.queue]:
                    yield UnclaimedKind(queue=queue.queue, kind=kind, jobs=Count(n=n, capped=ready.capped))


def _as_set(view: QueueView, row: Any, now: datetime) -> QueueView:
    """What operators set at run time is in force, above the plan."""
    return replace(
        view,
        paused=row.paused_at is not None,
        paused_by=row.paused_by,
        paused_seconds=None if row.paused_at is None else max(0.0, (now - row.paused_at).total_seconds()),
        age_limit=_first(row.age_limit, row.alert_age, view.age_limit),
        depth_limit=_first(row.depth_limit, row.alert_depth, view.depth_limit),
        concurrency=_first(row.concurrency, view.concurrency),
    )


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
