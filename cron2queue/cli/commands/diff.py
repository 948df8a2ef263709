"""`cron2queue diff`: what apply would change; with --shadow, how what stands beside the old lines differs from them."""

from pathlib import Path
from typing import Annotated

import typer

from cron2queue.cli.options import Ascii, Color, Database, Format, Journal, Logs, Observations, Width

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that convert wrote.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="This entry only; repeatable.")]
Shadow = Annotated[bool, typer.Option("--shadow", help="Compare what cron ran with what the queue would have run.")]
Since = Annotated[str | None, typer.Option("--since", help="With --shadow: no earlier than 90m, 2h, 3d or an ISO 8601 time.")]


def run(
    folder: Folder,
    only: Only = None,
    shadow: Shadow = False,
    logs: Logs = None,
    journal: Journal = None,
    observations: Observations = None,
    since: Since = None,
    database: Database = None,
    format: Format = "terminal",
    color: Color = "auto",
    ascii: Ascii = False,
    width: Width = None,
) -> None:
    """Show what apply would change in the live crontab, as a unified diff; exit 1 when that is anything.

    \b
    Examples:
      cron2queue diff c2q
      cron2queue diff c2q --only order-export
      cron2queue diff c2q --shadow --journal live       cron's runs against jobs
      cron2queue diff c2q --shadow --logs /var/log/syslog --since 3d --format json

    Secrets are masked here; crontab.diff in the folder has every byte.
    """
    from cron2queue.cli.comparing import Request, perform_shadow, refuse_without_shadow
    from cron2queue.cli.switching import perform_diff

    request = Request(logs=logs or [], journal=journal, observations=observations, since=since, database=database)
    if not shadow:
        refuse_without_shadow(request, format)
        raise typer.Exit(perform_diff(folder, only or []))
    raise typer.Exit(perform_shadow(folder, only or [], request, format, color=color, ascii_only=ascii, width=width))
