"""Runs a command while a lock is held, and ends with the command's own status."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from cron2queue.given import restore_environment
from cron2queue.runtime.locks import database_locks, locking
from cron2queue.runtime.locks.locking import LockHeld, LockTrouble
from cron2queue.runtime.passing import SignalPasser
from cron2queue.runtime.prctl import die_with_parent
from cron2queue.runtime.settings import Scope

_ASK_SECONDS = 5.0
_GRACE_SECONDS = 10.0
NOT_FOUND = 127
NOT_EXECUTABLE = 126

T = TypeVar("T")


def run_on_host(name: str, command: Sequence[str], *, wait: bool, folder: Path) -> int:
    """Hold the host's lock while the command runs. Returns its exit status; 128 + signal when a signal ended it.

    The command inherits the lock: it stays held for as long as any process of the command lives, even when this one
    is killed.
    """
    descriptor = locking.open_folder(folder)
    try:
        held = locking.lock_file(descriptor, name, wait=wait)
        locking.note_run(descriptor, name)
    except LockHeld as busy:
        raise tell_skip(busy, locking.note_skip(descriptor, name)) from None
    finally:
        os.close(descriptor)
    return _run(command, pass_on=[held.descriptor], is_held=lambda: True)


def run_in_database(name: str, command: Sequence[str], *, wait: bool, url: str, prefix: str, folder: Path) -> int:
    """Hold the database's lock while the command runs; when it is lost, the command is ended: never an unlocked run."""
    try:
        held = database_locks.take(url, prefix, name, wait=wait)
    except LockHeld as busy:
        counted = _count_if_there_is_a_folder(locking.note_skip, name, folder)
        raise tell_skip(busy, counted or locking.Skips(total=1, in_a_row=1)) from None
    try:
        _count_if_there_is_a_folder(locking.note_run, name, folder)
        inherited = [held.held.descriptor] if isinstance(held, database_locks.SqliteLock) else []
        return _run(command, pass_on=inherited, is_held=held.is_held, dies_with_us=not inherited)
    finally:
        held.release()


def _count_if_there_is_a_folder(count: Callable[[int, str], T], name: str, folder: Path) -> T | None:
    """The counts are for people and metrics; a host without a lock folder only logs."""
    try:
        descriptor = locking.open_folder(folder)
    except LockTrouble:
        return None
    try:
        return count(descriptor, name)
    except LockTrouble:
        return None
    finally:
        os.close(descriptor)


def tell_skip(busy: LockHeld, skips: locking.Skips) -> LockHeld:
    """One line in the log for each skip; a row of them is an alarm, and what is said of it on stderr tells how long it is."""
    import logging

    alarm = skips.in_a_row >= locking.ALARM_AFTER
    extra = {"event": "lock_skip", "in_a_row": skips.in_a_row, "total": skips.total}
    logging.getLogger("cron2queue.lock").log(
        logging.WARNING if alarm else logging.INFO, "%s (%d in a row)", busy.message, skips.in_a_row, extra=extra
    )
    return LockHeld(f"{busy.message}, {skips.in_a_row} times in a row", remedy=locking.STUCK) if alarm else busy


def _run(command: Sequence[str], *, pass_on: list[int], is_held: Callable[[], bool], dies_with_us: bool = False) -> int:
    restore_environment()
    # A lock that lives by this process's connection ends with this process; then the command has to end as well.
    passer = SignalPasser().install()
    prepare = die_with_parent if dies_with_us else None
    try:
        child = subprocess.Popen(list(command), pass_fds=pass_on, preexec_fn=prepare)  # noqa: PLW1509  (no threads here)
    except FileNotFoundError:
        _say(f"{command[0]}: not found")
        return NOT_FOUND
    except (OSError, ValueError) as trouble:
        _say(f"{command[0]}: {trouble}")
        return NOT_EXECUTABLE
    passer.attach(child.pid)
    while True:
        try:
            code = child.wait(_ASK_SECONDS)
            return code if code >= 0 else 128 - code
        except subprocess.TimeoutExpired:
            if not is_held():
                _end(child)
                raise LockTrouble(
                    "the lock was lost while the command ran, and the command was ended",
                    remedy="look at the server, and run again",
                ) from None


def _say(trouble: str) -> None:
    from cron2queue.text import safe_text

    print(f"cron2queue: {safe_text(trouble)}; nothing was run", file=sys.stderr)


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.terminate()
    try:
        child.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def run_locked(name: str, command: Sequence[str], *, wait: bool, scope: Scope, folder: Path, url: str, prefix: str) -> int:
    """The command's status. Raises LockHeld (75), LockTrouble or DatabaseUnavailable (69); then nothing was run."""
    locking.checked_name(name)
    if scope is Scope.HOST:
        return run_on_host(name, command, wait=wait, folder=folder)
    return run_in_database(name, command, wait=wait, url=url, prefix=prefix, folder=folder)
