"""The command line: the table of commands, and how trouble is told."""

import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import typer

from cron2queue import __version__
from cron2queue.cli.coercion import quicken
from cron2queue.cli.helping import Commands
from cron2queue.cli.trouble import exit_status_of

# Name and module of each command, in the order of `--help`: from the crontab to the running jobs.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("audit", "audit"),
    ("explain", "explain"),
    ("show", "show"),
    ("observe", "observe"),
    ("convert", "convert"),
    ("diff", "diff"),
    ("apply", "apply"),
    ("rollback", "rollback"),
    ("migrate", "migrate"),
    ("enqueue", "enqueue"),
    ("worker", "worker"),
    ("lock", "lock"),
    ("status", "status"),
    ("jobs", "jobs"),
    ("dead", "dead"),
    ("queues", "queues"),
    ("workers", "workers"),
    ("check", "check"),
    ("metrics", "metrics"),
    ("prune", "prune"),
    ("demo", "demo"),
)

_HELP = """From a grown crontab to reliable jobs, without losing anything.

\b
Examples:
  cron2queue demo                            the whole road, without root
  cron2queue audit /etc/crontab              what to queue, guard, leave alone
  ssh web1 cat /etc/crontab | cron2queue audit -
  cron2queue convert /etc/crontab --into c2q        writes there, nowhere else
  cron2queue COMMAND --help                  more about one of those below
"""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cron2queue {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", "-V", callback=_version, is_eager=True, help="Print the version."),
    traceback: bool = typer.Option(False, "--traceback", help="Show the traceback of a bug in cron2queue itself."),
) -> None:
    """Options that stand before the command; main() reads --traceback from the command line itself."""


def build_app(*only: str) -> typer.Typer:
    """The typer application with every command, or `only` those named; heavy imports wait inside the commands."""
    app = typer.Typer(
        name="cron2queue",
        help=_HELP,
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        cls=Commands,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, module_name in COMMANDS:
        if not only or name in only:
            _add(app, name, importlib.import_module(f"cron2queue.cli.commands.{module_name}"))
    return app


def _asked(arguments: Sequence[str]) -> tuple[str, ...]:
    """The one command that is called, where that is plain: typer takes a while to look at all the others."""
    return tuple(arguments[:1]) if arguments and arguments[0] in dict(COMMANDS) else ()


def _add(app: typer.Typer, name: str, module: Any) -> None:
    if hasattr(module, "group"):
        app.add_typer(module.group, name=name, cls=Commands)
        return
    run: Callable[..., None] = module.run
    settings = getattr(module, "CONTEXT_SETTINGS", None)
    app.command(name, context_settings=settings)(run)


def _terminated(signal_number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + signal_number)


def _fill_closed() -> None:
    """Whoever starts us may have closed a standard stream; what goes there goes nowhere, and is no trouble."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we live


def main() -> None:
    """Run the command line; every way out has the exit status of docs/reference/exit-statuses.md."""
    signal.signal(signal.SIGTERM, _terminated)
    _fill_closed()
    quicken()
    try:
        # Not standalone: typer would end a closed pipe with 1, and leave no word to this project's errors.
        ended = build_app(*_asked(sys.argv[1:]))(prog_name="cron2queue", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(ended if isinstance(ended, int) else 0)
    except BaseException as trouble:  # the one place that turns trouble into an exit status
        sys.exit(exit_status_of(trouble, show_traceback="--traceback" in sys.argv))
    finally:
        gc.freeze()  # at its end Python would look for rings in all that was loaded: a sixth of the whole process
