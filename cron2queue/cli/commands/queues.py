"""`cron2queue queues`: list, pause, resume, limit."""

from typing import Annotated

import typer

from cron2queue.cli.operation import By, NearestPlan
from cron2queue.cli.options import Ascii, Color, Database, Format, Width

group = typer.Typer(help="Look at queues, pause them, set their limits.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="QUEUE", help="The queue.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=0, max=1_000_000, help="Jobs at one time over all workers; 0: no limit.")
]
Depth = Annotated[
    int | None, typer.Option("--depth", min=0, help="Jobs that may wait; above it producers are refused; 0: no limit.")
]
Age = Annotated[float | None, typer.Option("--age", min=0, help="Seconds that the oldest ready job may wait; 0: no limit.")]


@group.command("list")
def list_(
    database: Database = None,
    plan: NearestPlan = None,
    format: Format = "terminal",
    color: Color = "auto",
    ascii: Ascii = False,
    width: Width = None,
) -> None:
    """Every queue: its oldest ready job against the limit, and what lies in it.

    \b
    Example:
      cron2queue queues list --format json
    """
    from cron2queue.cli.operation import one_of, operation
    from cron2queue.cli.showing import show_queues

    one_of(format, ("terminal", "json"), "--format")
    show_queues(operation(database, plan), format, color=color, ascii_only=ascii, width=width)


@group.command()
def pause(name: Name, by: By = None, database: Database = None, plan: NearestPlan = None, format: Format = "terminal") -> None:
    """Claim nothing more from this queue; what runs goes on, new jobs are still accepted.

    \b
    Example:
      cron2queue queues pause mail
    """
    from cron2queue.cli.operation import actor, one_of, operation
    from cron2queue.cli.steering import pause_queue

    one_of(format, ("terminal", "json"), "--format")
    pause_queue(operation(database, plan), name, by=actor(by), format=format)


@group.command()
def resume(name: Name, by: By = None, database: Database = None, plan: NearestPlan = None, format: Format = "terminal") -> None:
    """Claim from this queue again.

    \b
    Example:
      cron2queue queues resume mail
    """
    from cron2queue.cli.operation import actor, one_of, operation
    from cron2queue.cli.steering import resume_queue

    one_of(format, ("terminal", "json"), "--format")
    resume_queue(operation(database, plan), name, by=actor(by), format=format)


@group.command()
def limit(
    name: Name,
    concurrency: Concurrency = None,
    depth: Depth = None,
    age: Age = None,
    by: By = None,
    database: Database = None,
    plan: NearestPlan = None,
    format: Format = "terminal",
) -> None:
    """Set what a queue may hold and how many of its jobs run at one time, over all workers, at once.

    \b
    Examples:
      cron2queue queues limit mail --concurrency 4
      cron2queue queues limit mail --depth 20000 --age 900
    """
    from cron2queue.cli.operation import actor, one_of, operation
    from cron2queue.cli.steering import limit_queue

    one_of(format, ("terminal", "json"), "--format")
    where = operation(database, plan)
    limit_queue(where, name, concurrency=concurrency, depth=depth, age=age, by=actor(by), format=format)
