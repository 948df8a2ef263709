"""The nine questions to settle before a queue goes live, answered as far as the plan and the entries tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cron2queue.generator.migrations import database_of

if TYPE_CHECKING:
    from cron2queue.plan.model import Plan, PlannedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question; `done` when the tool could settle it. The text is the project's own, never foreign."""

    title: str
    text: str
    done: bool = False


def _names(jobs: Iterable[PlannedJob], limit: int = 8) -> str:
    names = [job.name for job in jobs]
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more or "none"


def _persistence(plan: Plan) -> Item:
    database = database_of(plan.project.database)
    words = {
        "sqlite": "one file on one host, WAL with synchronous=FULL; for several hosts move to MariaDB, MySQL or PostgreSQL",
        "postgresql": "synchronous_commit=on, which is the default",
    }
    text = words.get(database, "InnoDB with innodb_flush_log_at_trx_commit=1 and sync_binlog=1")
    return Item(
        title="Persistence", text=f"{database}: {text}. `cron2queue check` looks at it. Is the database in your backup?"
    )


def _promise(jobs: tuple[PlannedJob, ...]) -> Item:
    again = _names(job for job in jobs if job.settings.max_attempts > 1)
    return Item(
        title="Promise",
        text="An accepted job is not lost, and its handler may run more than once. Safe to run twice? Tried again after a"
        f" failure: {again}. For a job that must not, set `max-attempts = 1`.",
    )


def _permissions(plan: Plan, jobs: tuple[PlannedJob, ...]) -> Item:
    users = sorted({job.settings.user or "the crontab's owner" for job in jobs})
    secret = [job for job in jobs if job.secret]
    text = f"Jobs run as {', '.join(users)}; each queue has one user."
    if database_of(plan.project.database) == "sqlite":
        text += " They write the SQLite file and its folder, so both must be theirs (`apply` looks)."
    if secret:
        text += f" A password comes with {_names(secret)}: the plan is readable by its owner and group only."
    return Item(title="Permissions", text=f"{text} Each must be able to read cron2queue.toml and to reach the database.")


def _resources(plan: Plan) -> Item:
    sizes = ", ".join(f"{queue.name} {queue.concurrency}" for queue in plan.queues) or "none"
    return Item(title="Resources", text=f"Jobs at one time by queue: {sizes}. Raise one at a time, and watch.")


def _tests(jobs: tuple[PlannedJob, ...]) -> Item:
    return Item(
        title="Tests",
        text="Every handler runs the old command unchanged. Before the cutover run one by hand: `cron2queue enqueue NAME --plan"
        f" cron2queue.toml`, then a worker with `--drain`. To try: {_names(jobs)}.",
    )


def checklist(plan: Plan, jobs: tuple[PlannedJob, ...]) -> tuple[Item, ...]:
    """The items for the jobs that go into a queue; `jobs` are those that were converted."""
    limits = ", ".join(f"{queue.name} {queue.age_limit:g} s" for queue in plan.queues if queue.age_limit) or "none"
    return (
        Item(title="Scope", text=f"{len(jobs)} jobs: {_names(jobs)}. Everything else stays where it is.", done=bool(jobs)),
        _persistence(plan),
        _promise(jobs),
        _permissions(plan, jobs),
        _resources(plan),
        Item(
            title="Sight",
            text=f"Watch the age of the oldest ready job (limits: {limits}) with `cron2queue check` and `cron2queue metrics`;"
            " decide who is called when a job dies: with [hooks] in the plan, convert writes the timer that tells them.",
        ),
        Item(
            title="Retention",
            text="Workers delete ended jobs when their time is over: [retention] in the plan, 14 days, and 90 for dead ones;"
            " decide how long, with a look at what payloads hold.",
        ),
        _tests(jobs),
        Item(
            title="Fallback",
            text="`cron2queue rollback` puts the old lines back at any moment; the old commands stay untouched.",
            done=True,
        ),
    )
