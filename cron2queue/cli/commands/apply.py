"""`cron2queue apply`: the only command that changes the live crontab, besides rollback."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that convert wrote.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="This entry only; repeatable.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def run(folder: Folder, only: Only = None, yes: Yes = False) -> None:
    """Change the live crontab as planned: shows the diff, asks, backs up, compares, writes, reads back.

    \b
    Examples:
      cron2queue apply c2q --only order-export    one at a time: the careful way
      cron2queue apply c2q --yes

    It refuses (exit 4) when the crontab has changed since convert, or when the new lines need what is not there.
    """
    from cron2queue.cli.switching import perform_apply

    raise typer.Exit(perform_apply(folder, only or [], yes=yes))
