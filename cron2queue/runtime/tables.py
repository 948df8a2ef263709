"""The schema: one source for the statements, the migrations, the inspection and the generated SQL files."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Column, Index, MetaData, Table, text

from cron2queue.runtime import columns as c
from cron2queue.runtime.database.prefix import PREFIX, checked_prefix


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables of one prefix."""

    metadata: MetaData
    jobs: Table
    attempts: Table
    inbox: Table
    workers: Table
    queues: Table
    limits: Table
    controls: Table
    subscriptions: Table
    ticks: Table
    operations: Table
    rollups: Table
    marks: Table
    migrations: Table


def _table(metadata: MetaData, name: str, *items: Any) -> Table:
    everywhere = {"engine": "InnoDB", "charset": "utf8mb4", "collate": "utf8mb4_bin", "row_format": "DYNAMIC"}
    options: dict[str, Any] = {
        f"{dialect}_{key}": value for dialect in ("mysql", "mariadb") for key, value in everywhere.items()
    }
    counted = any(getattr(item, "autoincrement", False) is True for item in items)  # no id is ever given twice
    options |= {"sqlite_strict": True, "sqlite_autoincrement": counted}
    return Table(name, metadata, *items, **options)


def _where_set(name: str, first: str, *others: str) -> Index:
    """An index of the rows in which `first` is set; partial where the database can, so that other rows cost nothing."""
    condition = text(f"{first} IS NOT NULL")
    return Index(name, first, *others, postgresql_where=condition, sqlite_where=condition)


def _unique_where_set(name: str, column: str) -> Index:
    condition = text(f"{column} IS NOT NULL")
    return Index(name, column, unique=True, postgresql_where=condition, sqlite_where=condition)


def _jobs(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}jobs",
        Column("id", c.identity(), primary_key=True, autoincrement=True),
        Column("public_id", c.name(32), nullable=False),
        Column("queue", c.name(64), nullable=False),
        Column("kind", c.name(128), nullable=False),
        Column("job_key", c.Exact(1024)),
        *_uniqueness(),
        Column("payload", c.document(), nullable=False),
        *_life(),
        *_order(),
        *_story(),
        Index(f"{prefix}jobs_public_id", "public_id", unique=True),
        _unique_where_set(f"{prefix}jobs_dedupe", "dedupe"),
        _unique_where_set(f"{prefix}jobs_turn", "turn"),
        Index(f"{prefix}jobs_claim", "queue", "state", "priority", "id"),
        _where_set(f"{prefix}jobs_due", "due_at"),
        _where_set(f"{prefix}jobs_held", "held_by", "held_rank", "id"),
        _where_set(f"{prefix}jobs_worker", "worker"),
        _where_set(f"{prefix}jobs_finished", "finished_at"),
        _where_set(f"{prefix}jobs_owner", "owner", "id"),
    )


def _uniqueness() -> list[Column[Any]]:
    return [
        Column("dedupe", c.digest()),  # hash of kind, key and scope; NULL as soon as the uniqueness has ended
        Column("unique_until", c.large()),  # micros for a period, UNTIL_PRUNED for ever, NULL while active
    ]


def _life() -> list[Column[Any]]:
    return [
        Column("state", c.name(16), nullable=False),
        Column("priority", c.number(), nullable=False),
        Column("run_at", c.Moment(), nullable=False),
        Column("due_at", c.Moment()),  # set while scheduled only: when the mover takes it over
        Column("attempts", c.number(), nullable=False),
        Column("max_attempts", c.number(), nullable=False),
        Column("crashes", c.number(), nullable=False),
        Column("runs", c.number(), nullable=False),  # all claims of its life; attempts start anew at a requeue
        Column("lease", c.name(64)),
        Column("worker", c.name(64)),
    ]


def _order() -> list[Column[Any]]:
    return [
        Column("ordering_key", c.Exact(255)),
        Column("turn", c.digest()),  # hash of the ordering key, held by the one job whose turn it is
        Column("limit_key", c.Exact(1024)),
        Column("held_by", c.digest()),  # why it is blocked: hash of the ordering key or of the limit
        Column("held_rank", c.number()),
    ]


def _story() -> list[Column[Any]]:
    return [
        Column("owner", c.Exact(255)),
        Column("progress", c.real()),
        Column("phase", c.words(200)),
        Column("result_ref", c.words(1000)),
        Column("message", c.words(1000)),
        Column("trace_context", c.words(1000)),
        Column("created_at", c.Moment(), nullable=False),
        Column("ready_at", c.Moment()),
        Column("started_at", c.Moment()),
        Column("finished_at", c.Moment()),
        Column("cancel_requested_at", c.Moment()),
        Column("cancel_requested_by", c.words(255)),
    ]


def _attempts(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}attempts",
        Column("job_id", c.identity(), primary_key=True, autoincrement=False),
        Column("run", c.number(), primary_key=True, autoincrement=False),
        Column("number", c.number(), nullable=False),
        Column("lease", c.name(64), nullable=False),
        Column("worker", c.name(64)),
        Column("started_at", c.Moment()),
        Column("ended_at", c.Moment(), nullable=False),
        Column("outcome", c.name(32), nullable=False),
        Column("exit_status", c.number()),
        Column("signal_number", c.number()),
        Column("wait_seconds", c.real()),
        Column("run_seconds", c.real()),
        Column("max_rss_bytes", c.large()),
        Column("message", c.words(1000)),
        Column("diagnostic", c.document()),
        Column("output_tail", c.document()),
    )


def _inbox(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}inbox",
        Column("consumer", c.Exact(128), primary_key=True),
        Column("message_id", c.Exact(1024), primary_key=True),
        Column("processed_at", c.Moment(), nullable=False),
        Index(f"{prefix}inbox_processed", "processed_at"),
    )


def _workers(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}workers",
        Column("token", c.name(64), primary_key=True),
        Column("host", c.words(255), nullable=False),
        Column("pid", c.number(), nullable=False),
        Column("version", c.words(64), nullable=False),
        Column("kinds", c.document(), nullable=False),  # JSON list
        Column("queues", c.document(), nullable=False),  # JSON list
        Column("beat_counter", c.large(), nullable=False),
        Column("rss_bytes", c.large()),
        Column("running", c.number()),
        Column("started_at", c.Moment(), nullable=False),
        Column("beat_at", c.Moment(), nullable=False),  # for people only: no decision is taken by it
    )


def _queues(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}queues",
        Column("name", c.name(64), primary_key=True),
        Column("paused_at", c.Moment()),
        Column("paused_by", c.words(255)),
        Column("concurrency", c.number()),
        Column("depth_limit", c.number()),
        Column("age_limit", c.real()),  # seconds
        Column("alert_depth", c.number()),
        Column("alert_age", c.real()),  # seconds
        Column("locked", c.large(), nullable=False),  # counted up to take the row's lock, on every database alike
    )


def _limits(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}limits",
        Column("scope", c.name(8), primary_key=True),  # kind or key
        Column("name", c.Exact(1024), primary_key=True),
        Column("concurrency", c.number()),
        Column("rate", c.real()),  # jobs a second
        Column("burst", c.number()),
        Column("tokens", c.real()),
        Column("refilled_at", c.Moment()),
        Column("paused_until", c.Moment()),
        Column("locked", c.large(), nullable=False),
    )


def _controls(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}controls",
        Column("id", c.number(), primary_key=True, autoincrement=False),
        Column("version", c.large(), nullable=False),  # raised by every pause and limit; readers compare it
        Column("restart_mark", c.large(), nullable=False),
        Column("host", c.words(255)),  # SQLite: the one host that may use the file
    )


def _subscriptions(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}subscriptions",
        Column("event", c.name(128), primary_key=True),
        Column("kind", c.name(128), primary_key=True),
        Column("queue", c.name(64), nullable=False),
        Column("priority", c.number(), nullable=False),
        Column("max_attempts", c.number(), nullable=False),
    )


def _ticks(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}ticks",
        Column("entry", c.Exact(255), primary_key=True),
        Column("last_nominal", c.Moment(), nullable=False),
    )


def _operations(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}operations",
        Column("id", c.identity(), primary_key=True, autoincrement=True),
        Column("done_at", c.Moment(), nullable=False),
        Column("done_by", c.words(255), nullable=False),
        Column("verb", c.name(32), nullable=False),
        Column("target", c.words(1000), nullable=False),
        Column("detail", c.document()),
        Column("job_id", c.identity()),
        Index(f"{prefix}operations_job", "job_id"),
    )


def _rollups(metadata: MetaData, prefix: str) -> Table:
    """What settled jobs were like, added up: counts, and durations on the ladder of `distributions`."""
    return _table(
        metadata,
        f"{prefix}rollups",
        Column("period", c.large(), primary_key=True, autoincrement=False),  # epoch seconds of its start; 0: since ever
        Column("kind", c.name(128), primary_key=True),
        Column("queue", c.name(64), primary_key=True),
        Column("series", c.name(32), primary_key=True),  # wait, run, or the name of a count
        Column("rung", c.number(), primary_key=True, autoincrement=False),
        Column("n", c.large(), nullable=False),
    )


def _marks(metadata: MetaData, prefix: str) -> Table:
    """How far something has come (a hook's last told job, the last roll-up); changed by compare-and-swap."""
    return _table(
        metadata,
        f"{prefix}marks",
        Column("name", c.Exact(255), primary_key=True),
        Column("value", c.large(), nullable=False),
        Column("noted_at", c.Moment(), nullable=False),
    )


def _migrations(metadata: MetaData, prefix: str) -> Table:
    return _table(
        metadata,
        f"{prefix}migrations",
        Column("step", c.number(), primary_key=True, autoincrement=False),
        Column("name", c.words(128), nullable=False),
        Column("needs", c.number(), nullable=False),  # a release that knows fewer steps than this must not run
        Column("applied_at", c.Moment(), nullable=False),
    )


@lru_cache(maxsize=64)
def tables(prefix: str = PREFIX) -> Tables:
    """The tables with this prefix; the same objects for the same prefix."""
    checked_prefix(prefix)
    metadata = MetaData()
    builders = {
        "jobs": _jobs,
        "attempts": _attempts,
        "inbox": _inbox,
        "workers": _workers,
        "queues": _queues,
        "limits": _limits,
        "controls": _controls,
        "subscriptions": _subscriptions,
        "ticks": _ticks,
        "operations": _operations,
        "rollups": _rollups,
        "marks": _marks,
        "migrations": _migrations,
    }
    return Tables(metadata=metadata, **{name: build(metadata, prefix) for name, build in builders.items()})
