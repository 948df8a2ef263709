"""`cron2queue prune`: delete what is old."""

from typing import Annotated

import typer

from cron2queue.cli.operators import Act, acts

_DAYS = "days after their end; -1 keeps them all. Without it the plan's [retention], or"


@acts
def run(
    act: Act,
    succeeded: Annotated[float | None, typer.Option("--succeeded", help=f"Succeeded jobs: {_DAYS} 14.")] = None,
    cancelled: Annotated[float | None, typer.Option("--cancelled", help=f"Cancelled jobs: {_DAYS} 14.")] = None,
    dead: Annotated[float | None, typer.Option("--dead", help=f"Dead jobs: {_DAYS} 90.")] = None,
    inbox: Annotated[float | None, typer.Option("--inbox", help="Processed messages, likewise; else 30.")] = None,
    log: Annotated[float | None, typer.Option("--log", help="The operators' log, likewise; else 365.")] = None,
    most: Annotated[
        int, typer.Option("--most", min=1, help="Stop after so many jobs; the rest is for the next time.")
    ] = 1_000_000,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many there are of what.")] = False,
) -> None:
    """Delete ended jobs and their history, 500 rows a commit; workers and producers go on meanwhile.

    \b
    Examples:
      cron2queue prune --dry-run
      cron2queue prune --succeeded 3 --dead -1
    """
    from cron2queue.cli.pruning import prune

    ages = {"succeeded": succeeded, "cancelled": cancelled, "dead": dead, "inbox": inbox, "log": log}
    prune(act, ages, most=most, dry_run=dry_run)
