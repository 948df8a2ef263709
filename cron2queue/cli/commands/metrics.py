"""`cron2queue metrics`: for Prometheus."""

from pathlib import Path
from typing import Annotated

import typer

from cron2queue.cli.operation import NearestPlan
from cron2queue.cli.options import Database

Listen = Annotated[str | None, typer.Option("--listen", metavar="ADDRESS:PORT", help="Answer scrapes; :PORT is loopback only.")]
Textfile = Annotated[
    Path | None, typer.Option("--textfile", metavar="PATH", help="Write for node_exporter's textfile collector, at once.")
]


def run(database: Database = None, plan: NearestPlan = None, listen: Listen = None, textfile: Textfile = None) -> None:
    """The figures of the job table as Prometheus text: once on stdout, into a textfile, or over HTTP.

    \b
    Examples:
      cron2queue metrics
      * * * * * cron2queue metrics --textfile /var/lib/prometheus/c2q.prom
      cron2queue metrics --listen 127.0.0.1:9467
    """
    from cron2queue.cli import measuring
    from cron2queue.cli.operation import operation
    from cron2queue.errors import UsageError

    if listen is not None and textfile is not None:
        raise UsageError("--listen and --textfile are two ways", remedy="use one of them")
    where = operation(database, plan)
    measuring.listen(where, listen) if listen is not None else measuring.once(where, textfile)
