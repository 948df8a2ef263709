"""`cron2queue check`: a monitoring plugin."""

from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.options import Database, Format, Verbose

Timeout = Annotated[int, typer.Option("--timeout", "-t", min=1, max=3600, help="Seconds after which it is unknown.")]
Notify = Annotated[bool, typer.Option("--notify", help="Also tell the plan's hooks what is new.")]
Every = Annotated[
    float | None, typer.Option("--every", min=1, max=3600, help="With --notify: stay, and look every so many seconds.")
]


def run(
    database: Database = None,
    plan: NearestPlan = None,
    format: Format = "terminal",
    verbose: Verbose = False,
    timeout: Timeout = 30,
    notify: Notify = False,
    every: Every = None,
) -> None:
    """Database, schema, clock, lock folder, queues, workers, producers: 0 ok, 1 warning, 2 critical, 3 unknown.

    \b
    Examples:
      cron2queue check                      one line, for Nagios, Icinga and kin
      cron2queue check --verbose            all that was looked at, with remedies
      * * * * * cron2queue check --notify > /dev/null       tells the plan's hooks
    """
    from cron2queue.cli.checking import checked_within, say
    from cron2queue.cli.operation import one_of

    one_of(format, ("terminal", "json"), "--format")
    judgements = checked_within(timeout, database, plan, notify=notify, every=every)
    raise typer.Exit(int(say(judgements, format, verbose=verbose)))
