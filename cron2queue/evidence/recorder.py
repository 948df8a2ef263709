"""Runs a command exactly as given, and records how it went: `python -m cron2queue.evidence.recorder -- COMMAND`.

Nothing about the command changes. It gets the same standard input, environment, working directory, process group and
open files; signals sent to the recorder are handed on; its exit status becomes the recorder's, and a death by signal
becomes a death by the same signal. A failure to record is told on stderr, and changes nothing.

Output is counted without disturbing it: where standard output is a pipe (as under cron), the command gets a pipe too,
and what comes out of it is copied on; one pipe, where both outputs are one, so that their order stays. A file is handed
on as it is, and the growth of its offset is counted. A terminal, a socket and /dev/null are handed on uncounted. The
copying process lives as long as anything holds the pipe, as cron itself would wait; the recorder ends with the command.
"""

import errno
import os
import resource
import signal
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.evidence.copying import NOTHING, Copied, Copier
from cron2queue.given import restore_environment

if TYPE_CHECKING:
    from cron2queue.evidence.observations import Observation

# Handed on to the command. SIGCHLD tells of its end; SIGKILL and SIGSTOP cannot be handed on.
_HANDED_ON = frozenset(
    {
        signal.SIGHUP,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGTERM,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGALRM,
    }
)
_FROM_KERNEL = 0x80  # si_code of what a terminal sends; the command's process group has it already
_START_PATIENCE, _END_PATIENCE = 0.3, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to run, and where to record it (None: the default place).

    `shown` is what a crontab has for it, the text that evidence is found by.
    """

    words: tuple[str, ...]
    shown: str
    path: Path | None = None
    entry: str | None = None
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How the command ended: a wait status, what it used, and when by the monotonic clock."""

    status: int
    used: "resource.struct_rusage | None"
    seconds: float


def observe(order: Order) -> int:
    """Run and record; returns the exit status, or the negative number of the signal that ended the command."""
    started, ticks = time.time(), time.monotonic()
    restore_environment()
    _fill_closed()
    kept = signal.pthread_sigmask(signal.SIG_BLOCK, _HANDED_ON | {signal.SIGCHLD})
    files = _Offsets()
    copier = Copier.for_outputs()
    child = _spawn(order.words, kept, copier)
    observation = _begun(order, started)
    _record(order.path, observation, _START_PATIENCE, loud=False)
    status, used = _wait(child)
    copied = copier.settle() if copier is not None else NOTHING
    end = End(status=status, used=used, seconds=time.monotonic() - ticks)
    _record(order.path, _ended(observation, end, copied, files, order.patterns), _END_PATIENCE, loud=True)
    return os.waitstatus_to_exitcode(status)


def _fill_closed() -> None:
    """Keep our own files from becoming a standard stream that we were given closed; the command still finds it closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)


def leave(code: int) -> None:
    """End as the command did; does not return."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # None where it was closed from the start
            stream.flush()
    if code >= 0:
        os._exit(code)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command has left its core already
    signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.Signals(-code)})
    os.kill(os.getpid(), -code)
    os._exit(128 - code)


def _spawn(words: Sequence[str], kept: "set[signal.Signals | int]", copier: Copier | None) -> int:
    deaf = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        if copier is not None:
            copier.command_started()
        return child
    try:
        if copier is not None:
            copier.take_place()
        _restore_signals(kept, deaf=deaf)
        _become(words)
    except OSError as wrong:
        os.write(2, f"cron2queue: {words[0]}: {wrong.strerror}\n".encode("utf-8", "surrogateescape"))
        os._exit(127 if isinstance(wrong, FileNotFoundError) else 126)
    finally:
        os._exit(70)


def _restore_signals(kept: "set[signal.Signals | int]", *, deaf: bool) -> None:
    """Undo what Python and we have done to signals."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if deaf:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, kept)


def _become(words: Sequence[str]) -> None:
    """Execute, and a file without a #! line by the shell, as shells do."""
    try:
        os.execvp(words[0], list(words))
    except OSError as wrong:
        if wrong.errno != errno.ENOEXEC:
            raise
        os.execv("/bin/sh", ["/bin/sh", *words])


def _wait(child: int) -> "tuple[int, resource.struct_rusage]":
    """Wait for the command's end, and hand on the signals that come before it."""
    while True:
        info = signal.sigwaitinfo(_HANDED_ON | {signal.SIGCHLD})
        if info.si_signo != signal.SIGCHLD:
            if info.si_code != _FROM_KERNEL:
                with suppress(ProcessLookupError):
                    os.kill(child, info.si_signo)
            continue
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            return status, used


class _Offsets:
    """How far outputs that are files have grown, by the offset that all who write there share."""

    def __init__(self) -> None:
        self._before = {number: self._offset(number) for number in (1, 2)}

    @staticmethod
    def _offset(number: int) -> int | None:
        try:
            return os.lseek(number, 0, os.SEEK_CUR) if stat.S_ISREG(os.fstat(number).st_mode) else None
        except OSError:
            return None

    def grown(self, number: int) -> int | None:
        """Bytes written since the start, or None when it is no file."""
        before, after = self._before[number], self._offset(number)
        return None if before is None or after is None else max(0, after - before)


def _begun(order: Order, started: float) -> "Observation":
    from cron2queue.evidence.observations import Observation, digest_of
    from cron2queue.redaction import redact

    return Observation(
        id=f"{started:.6f}-{os.getpid()}-{os.urandom(4).hex()}",
        entry=order.entry,
        host=os.uname().nodename,
        account=_account(),
        command=redact(order.shown),
        digest=digest_of(order.shown),
        started=started,
    )


def _account() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _ended(begun: "Observation", end: End, copied: Copied, files: _Offsets, patterns: tuple[str, ...]) -> "Observation":
    code = os.waitstatus_to_exitcode(end.status)
    used = end.used
    return replace(
        begun,
        ended=begun.started + end.seconds,
        exit_status=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        user_seconds=used.ru_utime if used else None,
        system_seconds=used.ru_stime if used else None,
        max_rss_bytes=used.ru_maxrss * 1024 if used else None,
        read_bytes=used.ru_inblock * 512 if used else None,
        written_bytes=used.ru_oublock * 512 if used else None,
        stdout_bytes=copied.bytes_of(1) if copied.bytes_of(1) is not None else files.grown(1),
        stdout_lines=copied.lines_of(1),
        stderr_bytes=copied.bytes_of(2) if copied.bytes_of(2) is not None else files.grown(2),
        stderr_lines=copied.lines_of(2),
        nothing_to_do=_says_so(copied.head, patterns),
    )


def _says_so(head: bytes, patterns: tuple[str, ...]) -> bool | None:
    """Whether a short output says that there was nothing to do; None for no or much output."""
    lines = head.decode("utf-8", "replace").splitlines()
    if not lines or len(lines) > 5:
        return None
    from cron2queue.evidence.emptiness import nothing_to_do

    try:
        says = nothing_to_do(patterns)
    except ValueError:
        says = nothing_to_do()
    return True if any(says(line) for line in lines) else None


def _record(path: Path | None, observation: "Observation", patience: float, *, loud: bool) -> None:
    """Nothing that goes wrong here may reach the command."""
    try:
        from cron2queue.evidence.observations import default_path, write

        path = path or default_path()
        write(path, observation, patience=patience)
    except Exception as wrong:
        if loud:
            with suppress(OSError):
                os.write(2, f"cron2queue: this run was not recorded: {path}: {wrong}\n".encode("utf-8", "surrogateescape"))


USAGE = """\
usage: python -m cron2queue.evidence.recorder [--observations FILE] [--entry ID] [--nothing-to-do REGEX]... -- COMMAND...
       python -m cron2queue.evidence.recorder [...] --shell 'TEXT'     run by $SHELL -c, as cron does
"""


def order_of(arguments: Sequence[str]) -> Order | None:
    """The order in these words, or None when they are none."""
    options: dict[str, list[str]] = {"observations": [], "entry": [], "nothing-to-do": [], "shell": []}
    words = list(arguments)
    while words and words[0].startswith("--") and words[0] != "--":
        name, equals, value = words.pop(0)[2:].partition("=")
        if name not in options or (not equals and not words):
            return None
        options[name].append(value if equals else words.pop(0))
    command = words[1:] if words[:1] == ["--"] else words
    text = options["shell"][-1] if options["shell"] else None
    if (text is None) == (not command):
        return None
    return order_for(
        command,
        shell=text,
        path=Path(options["observations"][-1]) if options["observations"] else None,
        entry=options["entry"][-1] if options["entry"] else None,
        patterns=tuple(options["nothing-to-do"]),
    )


def order_for(
    words: Sequence[str], *, shell: str | None, path: Path | None, entry: str | None, patterns: tuple[str, ...]
) -> Order:
    """The order for a command's words, or for the text that the shell is to run."""
    import shlex

    return Order(
        words=tuple(words) if shell is None else (os.environ.get("SHELL") or "/bin/sh", "-c", shell),
        shown=shlex.join(words) if shell is None else shell,
        path=path,
        entry=entry,
        patterns=patterns,
    )


def main(arguments: Sequence[str]) -> None:
    """Run what the words say and end as it did; does not return."""
    order = order_of(arguments)
    if order is None:
        os.write(2, USAGE.encode())
        os._exit(2)
    leave(observe(order))


if __name__ == "__main__":
    main(sys.argv[1:])
