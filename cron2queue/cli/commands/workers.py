"""`cron2queue workers`: list, restart."""

import typer

from cron2queue.cli.operators import Act, Look, acts, looks

_HELP = """Look at workers, and have them start anew after a deploy.

\b
Examples:
  cron2queue workers list
  cron2queue workers restart                 after a deploy
"""

group = typer.Typer(help=_HELP, no_args_is_help=True, rich_markup_mode=None)


@group.command("list")
@looks
def list_(look: Look) -> None:
    """Every worker: whether it lives, and what it runs.

    \b
    Example:
      cron2queue workers list
    """
    from cron2queue.cli.showing import show_workers

    show_workers(look)


@group.command()
@acts
def restart(act: Act) -> None:
    """Ask every worker that runs now to stop after its jobs; its supervisor (systemd) starts it with the new code.

    \b
    Example:
      cron2queue workers restart
    """
    from cron2queue.cli.steering import restart_workers

    restart_workers(act)
