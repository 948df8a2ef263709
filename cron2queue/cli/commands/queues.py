"""`cron2queue queues`: list, show, pause, resume, limit."""

from typing import Annotated

import typer

from cron2queue.cli.operators import Act, Look, acts, looks

_HELP = """Look at queues, pause them, set their limits.

\b
Examples:
  cron2queue queues pause mail               what runs goes on
  cron2queue queues resume mail
  cron2queue queues limit mail --concurrency 4
"""

group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="QUEUE", help="The queue.")]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=0, max=1_000_000, help="Jobs at one time over all workers; 0: no limit.")
]
Depth = Annotated[
    int | None, typer.Option("--depth", min=0, help="Jobs that may wait; above it producers are refused; 0: no limit.")
]
Age = Annotated[float | None, typer.Option("--age", min=0, help="Seconds that the oldest ready job may wait; 0: no limit.")]


@group.command("list")
@looks
def list_(look: Look) -> None:
    """Every queue: its oldest ready job against the limit, and what lies in it.

    \b
    Example:
      cron2queue queues list --format json
    """
    from cron2queue.cli.showing import show_queues

    show_queues(look)


@group.command()
@looks
def show(look: Look, name: Name) -> None:
    """One queue: what lies in it, its limits, and who paused or limited it when.

    \b
    Example:
      cron2queue queues show mail
    """
    from cron2queue.cli.showing import show_queue

    show_queue(look, name)


@group.command()
@acts
def pause(act: Act, name: Name) -> None:
    """Claim nothing more from this queue; what runs goes on, new jobs are still accepted.

    \b
    Example:
      cron2queue queues pause mail
    """
    from cron2queue.cli.steering import pause_queue

    pause_queue(act, name)


@group.command()
@acts
def resume(act: Act, name: Name) -> None:
    """Claim from this queue again.

    \b
    Example:
      cron2queue queues resume mail
    """
    from cron2queue.cli.steering import resume_queue

    resume_queue(act, name)


@group.command()
@acts
def limit(act: Act, name: Name, concurrency: Concurrency = None, depth: Depth = None, age: Age = None) -> None:
    """Set what a queue may hold and how many of its jobs run at one time, over all workers, at once.

    \b
    Examples:
      cron2queue queues limit mail --concurrency 4
      cron2queue queues limit mail --depth 20000 --age 900
    """
    from cron2queue.cli.steering import limit_queue

    limit_queue(act, name, concurrency=concurrency, depth=depth, age=age)
