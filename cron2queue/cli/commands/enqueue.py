"""`cron2queue enqueue`: one job, by its name in the plan or by its kind."""

from pathlib import Path
from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.options import Database, Quiet


def run(
    name: Annotated[str | None, typer.Argument(metavar="JOB", help="A job of the plan.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="The kind, for a job that is not in the plan.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="Makes it idempotent: the same kind and key is one job.")] = None,
    unique: Annotated[str, typer.Option("--unique", help="How long: active, forever or seconds.")] = "active",
    payload: Annotated[str | None, typer.Option("--payload", help="JSON; - reads it from standard input.")] = None,
    queue: Annotated[str | None, typer.Option("--queue", help="The queue.")] = None,
    priority: Annotated[int | None, typer.Option("--priority", help="Lower runs first.")] = None,
    delay: Annotated[float | None, typer.Option("--delay", help="Not before so many seconds from now.")] = None,
    run_at: Annotated[str | None, typer.Option("--run-at", help="Not before this time, ISO 8601 with offset.")] = None,
    max_attempts: Annotated[int | None, typer.Option("--max-attempts", help="Runs, the first included.")] = None,
    ordering_key: Annotated[str | None, typer.Option("--ordering-key", help="Jobs of one key run in order.")] = None,
    limit_key: Annotated[str | None, typer.Option("--limit-key", help="The bucket of limits by key.")] = None,
    owner: Annotated[str | None, typer.Option("--owner", help="Who asked for it.")] = None,
    tick: Annotated[bool, typer.Option("--tick", help="The scheduled run: once a minute, with what was missed.")] = False,
    nominal: Annotated[str | None, typer.Option("--nominal", help="The tick's time, if it is not now.")] = None,
    missed: Annotated[bool, typer.Option("--missed", help="What every job of the plan has missed, by its rule.")] = False,
    spool: Annotated[Path | None, typer.Option("--spool", help="Keep the job here while the database is away.")] = None,
    plan: NearestPlan = None,
    database: Database = None,
    quiet: Quiet = False,
) -> None:
    """Enqueue one job and print its public id. A job that is known already is no error.

    \b
    Examples:
      cron2queue enqueue order-export
      cron2queue enqueue --kind mail --key order-7 --payload '{"order": 7}'
      cron2queue enqueue order-export --tick    as cron does, with what was missed
      cron2queue enqueue --missed               after downtime: what the plan says

    \b
    From cron, python -m cron2queue.runtime enqueue does the same, and faster.
    """
    from cron2queue.cli.enqueuing import enqueue

    options = {name: value for name, value in locals().items() if name not in ("missed", "plan", "database", "enqueue")}
    enqueue(options, missed=missed, plan=plan, database=database)
