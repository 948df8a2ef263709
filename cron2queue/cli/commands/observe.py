"""`cron2queue observe`: run a command as it stands and record how it went, or wrap a whole crontab so."""

from typing import Annotated

import typer

from cron2queue.cli import options as given

# The command's own options are not ours: reading stops at its first word, or at --.
CONTEXT_SETTINGS = {"allow_interspersed_args": False}

Words = Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND ... | --wrap [SOURCE|-]", help="What to run or wrap.")]
Shell = Annotated[str | None, typer.Option("--shell", metavar="TEXT", help="Run TEXT by $SHELL -c, as cron does.")]
Entry = Annotated[str | None, typer.Option("--entry", metavar="ID", help="The entry whose run it is, as audit shows it.")]
Wrap = Annotated[bool, typer.Option("--wrap", help="Print the crontab with every entry wrapped; change nothing.")]


def run(
    words: Words = None,
    observations: given.Observations = None,
    entry: Entry = None,
    shell: Shell = None,
    nothing_to_do: given.NothingToDo = None,
    wrap: Wrap = False,
    dialect: given.Dialect = "auto",
    kind: given.KindOption = "auto",
    user: given.User = None,
) -> None:
    """Run a command exactly as given, and record start, end, exit status, CPU, peak memory, output and I/O.

    \b
    Examples:
      cron2queue observe -- php bin/console app:import
      crontab -l | cron2queue observe --wrap - > wrapped && crontab wrapped
      cron2queue audit --observations ~/.local/state/cron2queue/observations.db
      python -m cron2queue.evidence.recorder -- COMMAND    the same, starts faster
    """
    from cron2queue.cli import observing

    patterns = tuple(nothing_to_do or ())
    if wrap:
        recorder = observing.wrapper(observations, patterns, entry=entry, shell=shell)
        observing.wrap(words or [], recorder, dialect=dialect, kind=kind, user=user)
        return
    observing.run(words or [], observations=observations, entry=entry, shell=shell, patterns=patterns)
