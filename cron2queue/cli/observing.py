"""What `cron2queue observe` does with its words."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.cli.evidence import checked_patterns
from cron2queue.cli.trouble import say
from cron2queue.errors import InputError, UsageError

if TYPE_CHECKING:
    from cron2queue.crontab.lines import Entry


_PLAIN = frozenset(chr(code) for code in range(32, 127)) - {"%", "'"}
"""What a crontab can hold between single quotes, whatever its daemon."""


def run(
    words: Sequence[str], *, observations: Path | None, entry: str | None, shell: str | None, patterns: tuple[str, ...]
) -> None:
    """Run and record; ends as the command did, and does not return."""
    from cron2queue.evidence.recorder import leave, observe, order_for

    if (shell is None) == (not words):
        raise UsageError("there is nothing to run", remedy="write the command after --, or its text after --shell")
    checked_patterns(patterns)
    leave(observe(order_for(words, shell=shell, path=observations, entry=entry, patterns=patterns)))


def wrap(sources: Sequence[str], recorder: str, *, dialect: str, kind: str, user: str | None) -> None:
    """Print one crontab (the caller's own when none is named) with every entry started through `recorder`.

    What could not be wrapped is told on stderr and stays as it is.
    """
    from cron2queue.cli.remarks import remark
    from cron2queue.cli.sources import CRONTAB_COMMAND, read
    from cron2queue.crontab.lines import entry_ids
    from cron2queue.evidence.wrapping import wrap as wrapped

    late = next((word for word in sources[1:] if word.startswith("-") and word != "-"), None)
    if late is not None:  # what follows the first word is a command's elsewhere
        raise UsageError(f"{late} stands behind the crontab", remedy="write options before it: observe --wrap OPTIONS FILE")
    if len(sources) > 1:
        raise UsageError("--wrap takes one crontab at a time", remedy="name one file, or - for standard input")
    found = read(sources or [CRONTAB_COMMAND], dialect=dialect, kind=kind, user=user)
    for each in found.unreadable:
        raise InputError(each.reason, place=each.path, remedy=each.remedy)
    if len(found.files) != 1:
        raise UsageError(f"here are {len(found.files)} crontabs, not one", remedy="name one file, or - for standard input")
    if not found.files[0].editable:
        raise UsageError(f"{found.files[0].path} is not read by cron itself", remedy="wrap the scripts, or cron's own files")
    obstacle = unreachable(Path(sys.executable))
    result = wrapped(found.files[0], entry_ids(found.files), wrapper=recorder, obstacle=obstacle)
    remark(found, named=sources, verbose=False)
    for line in found.files[0].malformed:
        say(f"left as it is: line {line.number}, column {line.column}: {line.message}\n  remedy: {line.remedy}")
    for why in result.left:
        say(f"left as it is: {why}")
    sys.stdout.buffer.write(result.data)
    sys.stdout.buffer.flush()


def unreachable(python: Path) -> Callable[[Entry], str]:
    """Why the user of an entry could not start this Python; nothing of users whom this host does not know."""
    from functools import cache

    from cron2queue.cutover.preflight import reachable

    @cache
    def cannot(user: str) -> str:
        try:
            return "" if reachable(python, user) else f"{user} cannot run {python}: install cron2queue where all can"
        except (KeyError, OSError):
            return ""

    return lambda entry: cannot(entry.user) if entry.user else ""


def wrapper(observations: Path | None, patterns: Sequence[str], *, entry: str | None, shell: str | None) -> str:
    """The recorder's words in a crontab, with the whole path of this Python: cron's own PATH seldom has it."""
    if entry is not None or shell is not None:
        raise UsageError("--entry and --shell belong to one run", remedy="leave them out: --wrap writes them for each entry")
    checked_patterns(patterns)
    options = [("--observations", str(observations.absolute()))] if observations is not None else []
    options += [("--nothing-to-do", pattern) for pattern in patterns]
    for name, value in options:
        if not _PLAIN.issuperset(value):
            remedy = "take another name" if name == "--observations" else "write a dot in its place"
            raise UsageError(f"{name} {value!r} holds what crons or shells take apart: % or ' or no ASCII", remedy=remedy)
    words = [f"{shlex.quote(sys.executable)} -m cron2queue.evidence.recorder"]
    return " ".join([*words, *(f"{name}={shlex.quote(value)}" for name, value in options)])
