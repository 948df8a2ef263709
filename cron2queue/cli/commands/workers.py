"""`cron2queue workers`: list, restart."""

import typer

from cron2queue.cli.operation import By, NearestPlan
from cron2queue.cli.options import Ascii, Color, Database, Format, Width

group = typer.Typer(
    help="Look at workers, and have them start anew after a deploy.", no_args_is_help=True, rich_markup_mode=None
)


@group.command("list")
def list_(
    database: Database = None,
    plan: NearestPlan = None,
    format: Format = "terminal",
    color: Color = "auto",
    ascii: Ascii = False,
    width: Width = None,
) -> None:
    """Every worker: whether it lives, and what it runs.

    \b
    Example:
      cron2queue workers list
    """
    from cron2queue.cli.operation import one_of, operation
    from cron2queue.cli.showing import show_workers

    one_of(format, ("terminal", "json"), "--format")
    show_workers(operation(database, plan), format, color=color, ascii_only=ascii, width=width)


@group.command()
def restart(by: By = None, database: Database = None, plan: NearestPlan = None, format: Format = "terminal") -> None:
    """Ask every worker that runs now to stop after its jobs; its supervisor (systemd) starts it with the new code.

    \b
    Example:
      cron2queue workers restart
    """
    from cron2queue.cli.operation import actor, one_of, operation
    from cron2queue.cli.steering import restart_workers

    one_of(format, ("terminal", "json"), "--format")
    restart_workers(operation(database, plan), by=actor(by), format=format)
