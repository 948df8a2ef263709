"""`cron2queue demo`: the whole road in under a minute."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path | None, typer.Argument(metavar="DIR", help="Work in this new folder; default: a temporary one.")]


def run(folder: Folder = None) -> None:
    """The whole road on a bundled crontab: audit, convert, enqueue, work, a retry, a dead job, status. No root.

    \b
    Examples:
      cron2queue demo
      cron2queue demo ./look-around     keeps everything in a new folder
    """
    from cron2queue.cli.demonstration.opening import opened
    from cron2queue.cli.demonstration.story import play

    play(opened(folder))
