"""`cron2queue lock`: one run at a time, on this host or in a whole database."""

from pathlib import Path
from typing import Annotated

import typer

from cron2queue.cli import options as given

Name = Annotated[str, typer.Argument(metavar="NAME", help="The lock; the same name is the same lock, whoever starts it.")]
Command = Annotated[list[str], typer.Argument(metavar="-- COMMAND ...", help="What to run while the lock is held.")]
Policy = Annotated[str, typer.Option("--policy", help="When it is held: skip (exit 75, nothing is run) or wait.")]
ScopeOption = Annotated[str, typer.Option("--scope", help="One run on this host, or in the whole database.")]
Folder = Annotated[
    Path | None, typer.Option("--folder", help="Where lock files are (default: /run/lock/cron2queue).", show_default=False)
]

Textfile = Annotated[
    Path | None, typer.Option("--textfile", help="Write how often locks were held, for node_exporter.", show_default=False)
]


def run(
    name: Name,
    command: Command,
    policy: Policy = "skip",
    scope: ScopeOption = "host",
    folder: Folder = None,
    database: given.Database = None,
    plan: given.PlanFile = None,
    textfile: Textfile = None,
) -> None:
    """Run a command while a lock is held. Ends with the command's own status.

    \b
    Examples:
      cron2queue lock import -- /usr/bin/php bin/console app:import
      cron2queue lock report --policy wait --scope database -- ./report.sh

    75 and a message of cron2queue: the lock is held, and nothing was run. 75 without one: the command's own. 69: whether
    the lock is free could not be found out, and nothing was run. 126, 127: the command cannot be started.
    """
    from cron2queue.runtime.locks.command import perform

    raise typer.Exit(
        perform(
            name,
            command,
            policy=policy,
            scope=scope,
            folder=folder,
            database=database,
            plan=plan,
            textfile=textfile,
        )
    )
