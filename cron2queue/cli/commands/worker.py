"""`cron2queue worker`: run the jobs."""

from typing import Annotated

import typer

CONTEXT_SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": ["-h"]}
Arguments = Annotated[
    list[str] | None, typer.Argument(metavar="OPTION", help="As for python -m cron2queue.runtime work; see --help there.")
]


def run(arguments: Arguments = None) -> None:
    """Work on jobs until told to stop: the same as the lean `python -m cron2queue.runtime work`, with the same options.

    \b
    Examples:
      cron2queue worker --queue default:2
      cron2queue worker --queue mail:8 --queue reports:1 --children 4
      cron2queue worker --drain                  leave when nothing is left to do
      cron2queue worker --help                   all options

    TERM lets running jobs finish for --grace seconds and gives the rest back; a second TERM is quicker.
    """
    from cron2queue.runtime.worker.commandline import main

    raise typer.Exit(main(arguments or []))
