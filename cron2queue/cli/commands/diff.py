"""`cron2queue diff`: what apply would change."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that convert wrote.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="This entry only; repeatable.")]


def run(folder: Folder, only: Only = None) -> None:
    """Show what apply would change in the live crontab, as a unified diff; exit 1 when that is anything.

    \b
    Examples:
      cron2queue diff c2q
      cron2queue diff c2q --only order-export

    Secrets are masked here; crontab.diff in the folder has every byte.
    """
    from cron2queue.cli.switching import perform_diff

    raise typer.Exit(perform_diff(folder, only or []))
