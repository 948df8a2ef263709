"""`cron2queue migrate`: the tables, up, down, status, or as SQL for people who run their own migrations."""

from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.options import Database, Format, Quiet

_HELP = """Make, change or take away the tables of the job queue.

\b
Examples:
  cron2queue migrate status                  which steps are applied
  cron2queue migrate up                      make the tables, or bring them up
"""

group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)

To = Annotated[int | None, typer.Option("--to", min=0, help="Stop at this step; without it, go to the last.")]


@group.command()
def up(to: To = None, database: Database = None, plan: NearestPlan = None, quiet: Quiet = False) -> None:
    """Apply the steps that are missing. Safe to repeat, also after it was killed half way.

    \b
    Examples:
      cron2queue migrate up
      cron2queue migrate up --database mysql+pymysql://shop@db/shop
    """
    from cron2queue.cli.migrating import migrate_up
    from cron2queue.cli.operation import operation

    migrate_up(operation(database, plan), to=to, quiet=quiet)


@group.command()
def down(
    to: Annotated[int, typer.Option("--to", min=0, help="The step to go back to; 0 takes all tables away.")],
    force: Annotated[bool, typer.Option("--force", help="Even if jobs would be lost.")] = False,
    database: Database = None,
    plan: NearestPlan = None,
    quiet: Quiet = False,
) -> None:
    """Take steps back. Refused while the table holds jobs, unless forced.

    \b
    Example:
      cron2queue migrate down --to 0
    """
    from cron2queue.cli.migrating import migrate_down
    from cron2queue.cli.operation import operation

    migrate_down(operation(database, plan), to=to, force=force, quiet=quiet)


@group.command()
def status(database: Database = None, plan: NearestPlan = None, format: Format = "terminal") -> None:
    """Which steps are applied, missing or half done. Exits 1 if any is not applied.

    \b
    Example:
      cron2queue migrate status --format json
    """
    from cron2queue.cli.migrating import show_status
    from cron2queue.cli.operation import one_of, operation

    one_of(format, ("terminal", "json"), "--format")
    if not show_status(operation(database, plan), format):
        raise typer.Exit(1)


@group.command()
def sql(
    family: Annotated[str | None, typer.Option("--for", help="sqlite, mysql (MariaDB too) or postgresql.")] = None,
    down: Annotated[bool, typer.Option("--down", help="The way back.")] = False,
    after: Annotated[int, typer.Option("--after", min=0, help="Only steps after this one.")] = 0,
    database: Database = None,
    plan: NearestPlan = None,
) -> None:
    """Print the steps as SQL; run by hand it does the same as `up`, and records itself. Nothing is connected to.

    \b
    Example:
      cron2queue migrate sql --for mysql > job_table.sql
    """
    from cron2queue.cli.migrating import show_sql
    from cron2queue.cli.operation import operation

    show_sql(operation(database, plan), family, down=down, after=after)
