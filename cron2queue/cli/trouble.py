"""How trouble ends a command: one paragraph on stderr and the right exit status, never a stray traceback."""

import os
import sys
import traceback

from cron2queue.errors import Cron2QueueError
from cron2queue.redaction import redact
from cron2queue.text import safe_text

BUG = 70
INTERRUPTED = 130


def say(message: str) -> None:
    """One message on stderr, safe to show; its own line breaks stay."""
    lines = (safe_text(redact(line)) for line in message.split("\n"))
    try:
        print("cron2queue: " + "\n".join(lines), file=sys.stderr)
    except BrokenPipeError:
        _hush()


def _hush() -> None:
    """Nobody reads any more: let the interpreter's last flush go nowhere instead of failing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _of_exit(trouble: SystemExit) -> int:
    if trouble.code is None:
        return 0
    return trouble.code if isinstance(trouble.code, int) else 1


def exit_status_of(trouble: BaseException, *, show_traceback: bool = False) -> int:
    """Tell the trouble and return the exit status that belongs to it."""
    if isinstance(trouble, SystemExit):
        return _of_exit(trouble)
    if isinstance(trouble, Cron2QueueError):
        say(str(trouble))
        return trouble.exit_status
    if isinstance(trouble, BrokenPipeError):
        _hush()
        return 0
    if isinstance(trouble, KeyboardInterrupt):
        return INTERRUPTED
    if show_traceback:
        traceback.print_exception(trouble)
    else:
        say(f"a bug in cron2queue: {type(trouble).__name__}: {trouble}\n  remedy: run again with --traceback and report it")
    return BUG
