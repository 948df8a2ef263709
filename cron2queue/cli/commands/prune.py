"""`cron2queue prune`: delete what is old."""

from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.options import Database, Format

Days = "days after their end; -1 keeps them all."


def run(
    succeeded: Annotated[float, typer.Option("--succeeded", help="Succeeded jobs: " + Days)] = 14,
    cancelled: Annotated[float, typer.Option("--cancelled", help="Cancelled jobs: " + Days)] = 14,
    dead: Annotated[float, typer.Option("--dead", help="Dead jobs: " + Days)] = 90,
    inbox: Annotated[float, typer.Option("--inbox", help="Processed messages: days; -1 keeps them all.")] = 30,
    log: Annotated[float, typer.Option("--log", help="The operators' log: days; -1 keeps it all.")] = 365,
    most: Annotated[
        int, typer.Option("--most", min=1, help="Stop after so many jobs; the rest is for the next time.")
    ] = 1_000_000,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many jobs there are.")] = False,
    database: Database = None,
    plan: NearestPlan = None,
    format: Format = "terminal",
) -> None:
    """Delete ended jobs and their history, 500 rows a commit; workers and producers go on meanwhile.

    \b
    Examples:
      cron2queue prune --dry-run
      cron2queue prune --succeeded 3 --dead -1
    """
    from cron2queue.cli.operation import one_of, operation
    from cron2queue.cli.pruning import prune

    one_of(format, ("terminal", "json"), "--format")
    ages = {"succeeded": succeeded, "cancelled": cancelled, "dead": dead, "inbox": inbox, "operations": log}
    prune(operation(database, plan), ages, format, most=most, dry_run=dry_run)
