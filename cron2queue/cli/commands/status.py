"""`cron2queue status`: the one screen."""

from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.options import Ascii, Color, Database, Format, Output, Width

Watch = Annotated[bool, typer.Option("--watch", "-w", help="Stay, and draw it again and again.")]
Every = Annotated[float, typer.Option("--every", min=0.2, max=3600, help="Seconds between two looks of --watch.")]


def run(
    database: Database = None,
    plan: NearestPlan = None,
    format: Format = "terminal",
    watch: Watch = False,
    every: Every = 2.0,
    output: Output = None,
    color: Color = "auto",
    ascii: Ascii = False,
    width: Width = None,
) -> None:
    """One screen: what is wrong, queues by oldest age, kinds, workers, missed ticks, the dead.

    \b
    Examples:
      cron2queue status                          once
      cron2queue status --watch                  live, until Ctrl-C
      cron2queue status --format json | jq '.queues[].oldest_ready_seconds'
      cron2queue status --format html -o queue.html --watch      a page for a wall
    """
    from cron2queue.cli.operation import one_of, operation
    from cron2queue.cli.watching import repeated, shown_once

    one_of(format, ("terminal", "json", "html"), "--format")
    show = shown_once(
        operation(database, plan),
        format,
        output=output,
        color=color,
        ascii_only=ascii,
        width=width,
        every=every if watch else 0,
    )
    repeated(show, every, live=format == "terminal" and output is None) if watch else show.put()
