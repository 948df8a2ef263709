"""`cron2queue rollback`: the way back."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that convert wrote.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="This entry only; repeatable.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def run(folder: Folder, only: Only = None, yes: Yes = False) -> None:
    """Put the old lines back into the live crontab, keeping every edit made by hand since.

    \b
    Examples:
      cron2queue rollback c2q
      cron2queue rollback c2q --only order-export --yes

    Works after an interrupted apply too. Where an edit touches a replaced line it refuses (exit 4) and shows the edit.
    """
    from cron2queue.cli.switching import perform_rollback

    raise typer.Exit(perform_rollback(folder, only or [], yes=yes))
