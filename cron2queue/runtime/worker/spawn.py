"""Starts a program in a session of its own, with pipes for input, output and reports (fd 3).

posix_spawn is used wherever it can be: it costs a sixth of a fork of this process. Another user needs setuid between
fork and exec, which only `subprocess` offers.
"""

import errno
import os
import pwd
import signal
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

REPORT_FD = 3
# A Python process ignores some signals and has handlers for others; a program starts with the system's defaults.
_DEFAULT_SIGNALS = sorted(set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
# This host is short of something; the same program may start in a moment.
_SHORTAGE = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_folder_turn = threading.Lock()


class CouldNotStart(Exception):
    """The program did not begin. `shortage`: this host lacks something just now, and the program is not to blame."""

    def __init__(self, message: str, *, shortage: bool = False) -> None:
        super().__init__(message)
        self.shortage = shortage


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is to be run. `user` None means the worker's own; `folder` None means the worker's own."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A running program and this side's ends of its pipes; all three do not block."""

    pid: int
    stdin: int
    output: int
    reports: int


def _pipe_pairs() -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    try:
        for _ in range(3):
            pairs.append(os.pipe2(os.O_CLOEXEC))  # noqa: PERF401  (the ones made so far must be known on failure)
    except OSError as trouble:
        close_all(end for pair in pairs for end in pair)
        raise CouldNotStart(f"no pipe: {trouble.strerror}", shortage=True) from None
    return pairs


def close_all(descriptors: Iterable[int]) -> None:
    """Close each; one that is closed already is fine."""
    for each in descriptors:
        with suppress(OSError):
            os.close(each)


def start(program: Program) -> Started:
    """Start it. Raises CouldNotStart; then nothing is left behind."""
    (in_read, in_write), (out_read, out_write), (report_read, report_write) = _pipe_pairs()
    ours, theirs = (in_write, out_read, report_read), (in_read, out_write, report_write)
    try:
        pid = _start_as(program, in_read, out_write, report_write)
    except BaseException:
        close_all(ours)
        raise
    finally:
        close_all(theirs)
    for each in ours:
        os.set_blocking(each, False)
    return Started(pid=pid, stdin=in_write, output=out_read, reports=report_read)


def _start_as(program: Program, stdin: int, output: int, reports: int) -> int:
    try:
        if program.user is not None and program.user != _own_name():
            return _spawn_as_other(program, stdin, output)
        return _spawn(program, stdin, output, reports)
    except OSError as trouble:
        shortage = trouble.errno in _SHORTAGE
        raise CouldNotStart(f"{program.argv[0]}: {trouble.strerror or trouble}", shortage=shortage) from None
    except ValueError as trouble:  # a NUL in an argument or a name
        raise CouldNotStart(f"{program.argv[0]!r}: {trouble}") from None


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _spawn(program: Program, stdin: int, output: int, reports: int) -> int:
    # The report pipe goes first: its number 3 may be one of the other ends, which are moved out of the way before.
    spare = [os.dup(end) if end <= REPORT_FD else end for end in (stdin, output, reports)]
    actions = [
        (os.POSIX_SPAWN_DUP2, spare[0], 0),
        (os.POSIX_SPAWN_DUP2, spare[1], 1),
        (os.POSIX_SPAWN_DUP2, spare[1], 2),
        (os.POSIX_SPAWN_DUP2, spare[2], REPORT_FD),
    ]
    try:
        return _spawn_in(program, actions)
    finally:
        close_all([new for new, old in zip(spare, (stdin, output, reports), strict=True) if new != old])


def _spawn_in(program: Program, actions: list[tuple[int, int, int]]) -> int:
    if program.folder is None:
        return _posix_spawn(program.argv, program.environment, actions)
    if threading.current_thread() is not threading.main_thread() or threading.active_count() > 2:
        # Other threads may be using relative paths: let a shell change the folder instead of this process.
        enter = ["/bin/sh", "-c", 'cd -- "$0" || exit 126; exec "$@"', program.folder, *program.argv]
        return _posix_spawn(enter, program.environment, actions)
    with _folder_turn:
        back = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.chdir(program.folder)
            return _posix_spawn(program.argv, program.environment, actions)
        finally:
            os.fchdir(back)
            os.close(back)


def _posix_spawn(argv: Sequence[str], environment: Mapping[str, str], actions: list[tuple[int, int, int]]) -> int:
    return os.posix_spawnp(
        argv[0],
        list(argv),
        dict(environment),
        file_actions=actions,
        setsid=True,
        setsigmask=(),
        setsigdef=_DEFAULT_SIGNALS,
    )


def _spawn_as_other(program: Program, stdin: int, output: int) -> int:
    try:
        account = pwd.getpwnam(program.user or "")
    except KeyError:
        raise CouldNotStart(f"user {program.user!r} is not known on this host") from None
    try:
        process = subprocess.Popen(
            list(program.argv),
            env=dict(program.environment),
            stdin=stdin,
            stdout=output,
            stderr=output,
            cwd=program.folder,
            start_new_session=True,
            user=account.pw_uid,
            group=account.pw_gid,
            extra_groups=os.getgrouplist(account.pw_name, account.pw_gid),
        )
    except PermissionError as trouble:
        raise CouldNotStart(f"as user {program.user}: {trouble.strerror}") from None
    process.returncode = 0  # it is waited for by its pid; Popen must not wait as well
    return process.pid


def home_of(user: str | None) -> tuple[str, str]:
    """Name and home folder of a user; of the own one for None. Raises CouldNotStart for an unknown user."""
    try:
        account = pwd.getpwuid(os.geteuid()) if user is None else pwd.getpwnam(user)
    except KeyError:
        if user is None:
            return str(os.geteuid()), "/"
        raise CouldNotStart(f"user {user!r} is not known on this host") from None
    return account.pw_name, account.pw_dir


def is_runnable(path: Path) -> bool:
    """Whether the file is there and may be executed by this user."""
    return os.path.isfile(path) and os.access(path, os.X_OK)
