"""`cron2queue prune`: retention, by hand."""

from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.options import Database, Format

Succeeded = Annotated[float, typer.Option("--succeeded", min=0, metavar="DAYS", help="Keep succeeded jobs so long.")]
Cancelled = Annotated[float, typer.Option("--cancelled", min=0, metavar="DAYS", help="Keep cancelled jobs so long.")]
Dead = Annotated[float, typer.Option("--dead", min=0, metavar="DAYS", help="Keep dead jobs so long.")]
Inbox = Annotated[float, typer.Option("--inbox", min=0, metavar="DAYS", help="Keep processed messages so long.")]
Log = Annotated[float, typer.Option("--log", min=0, metavar="DAYS", help="Keep the operators' log so long.")]
Most = Annotated[int, typer.Option("--most", min=1, help="Stop after so many jobs; the rest is for the next time.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many there are.")]


def run(
    database: Database = None,
    plan: NearestPlan = None,
    succeeded: Succeeded = 14,
    cancelled: Cancelled = 14,
    dead: Dead = 90,
    inbox: Inbox = 30,
    log: Log = 365,
    most: Most = 1_000_000,
    dry_run: DryRun = False,
    format: Format = "terminal",
) -> None:
    """Delete ended jobs that are older, 500 rows a commit by primary key, while workers go on. They do the same by themselves.

    \b
    Examples:
      cron2queue prune --dry-run
      cron2queue prune --succeeded 2 --dead 365
    """
    from cron2queue.cli.operation import one_of, operation
    from cron2queue.cli.steering import Retention, prune_jobs

    one_of(format, ("terminal", "json"), "--format")
    kept = Retention(succeeded=succeeded, cancelled=cancelled, dead=dead, inbox=inbox, operations=log)
    prune_jobs(operation(database, plan), kept, most=most, dry_run=dry_run, format=format)
