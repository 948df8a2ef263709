"""How trouble ends a command: one paragraph on stderr and the right exit status, never a stray traceback."""

import errno
import os
import sys
import traceback
from pathlib import Path

import typer
from typer._click.exceptions import ClickException

from cron2queue.cli.writing import silence
from cron2queue.errors import DISK_TROUBLE, Cron2QueueError, UsageError, remedy_of
from cron2queue.redaction import redact
from cron2queue.text import safe_text

BUG = 70
INTERRUPTED = 130
# What a name may meet on this host. ENOENT is not among them: whoever asks for what may be missing says so itself.
PATH_TROUBLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EEXIST}
)


def say(message: str) -> None:
    """One message on stderr, safe to show; its own line breaks stay."""
    lines = (safe_text(redact(line)) for line in message.split("\n"))
    try:
        print("cron2queue: " + "\n".join(lines), file=sys.stderr)
    except OSError:
        silence(sys.stderr)


def _of_exit(trouble: SystemExit) -> int:
    if trouble.code is None:
        return 0
    return trouble.code if isinstance(trouble.code, int) else 1


def _nowhere() -> bool:
    """The folder that we were started in was taken away."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def exit_status_of(trouble: BaseException, *, show_traceback: bool = False) -> int:
    """Tell the trouble and return the exit status that belongs to it."""
    if isinstance(trouble, SystemExit):
        # typer turns a closed pipe into 1 by itself
        return 0 if isinstance(trouble.__context__, BrokenPipeError) else _of_exit(trouble)
    if isinstance(trouble, typer.Abort):
        return INTERRUPTED
    if isinstance(trouble, ClickException):  # a wrong option or argument: typer words it, with the usage line
        trouble.show()
        return trouble.exit_code
    if isinstance(trouble, Cron2QueueError):
        say(str(trouble))
        return trouble.exit_status
    if isinstance(trouble, BrokenPipeError):
        silence(sys.stdout)
        return 0
    if isinstance(trouble, OSError) and trouble.errno in DISK_TROUBLE:
        silence(sys.stdout)
        where = trouble.filename or "standard output"
        say(f"{where}: cannot be written: {trouble.strerror}\n  remedy: {remedy_of(trouble, 'try again')}")
        return UsageError.exit_status
    if isinstance(trouble, OSError) and trouble.errno in PATH_TROUBLE and trouble.filename is not None:
        remedy = "name another place, or run as a user who may use this one"
        say(f"{os.fsdecode(trouble.filename)}: {trouble.strerror}\n  remedy: {remedy}")
        return UsageError.exit_status
    if isinstance(trouble, FileNotFoundError) and _nowhere():
        say("the folder that this was started in is gone\n  remedy: change to one that is there")
        return UsageError.exit_status
    if isinstance(trouble, KeyboardInterrupt):
        return INTERRUPTED
    if show_traceback:
        traceback.print_exception(trouble)
    else:
        say(f"a bug in cron2queue: {type(trouble).__name__}: {trouble}\n  remedy: run again with --traceback and report it")
    return BUG
