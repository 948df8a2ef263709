"""flock and timeout around a command, in the form that the host's tools understand.

GNU: `flock -n -E 75 LOCK timeout -k 10 240 COMMAND`. Lock outside, so that it is free again when the command is killed; no
`-o`, so that the lock lives as long as the command even when flock itself is killed.
BusyBox has neither `-E` nor `-w`: the lock is taken on a descriptor of the shell, which every shell and flock can do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cron2queue.generator.shell import NotWritable, sh, sh_words
from cron2queue.plan.model import Userland

FLOCK, TIMEOUT, LOGGER = "/usr/bin/flock", "/usr/bin/timeout", "/usr/bin/logger"
BUSY = 75
POSIX_SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"})

# Possessive: what is read as a word is never read again in another way, so that no command takes time with its length's
# power. A number before < or > is no word: it names a descriptor.
_WORD = r"""(?![0-9]++[<>])(?:[A-Za-z0-9_./:,=@+-]++|"[A-Za-z0-9_./:,=@+ -]*+"|'[^'\\]*+')++"""
_SIMPLE = re.compile(
    rf"""(?P<cd>cd[ \t]++{_WORD}[ \t]++&&[ \t]++)?(?P<words>/?[a-z][A-Za-z0-9_./+-]*+(?:[ \t]++{_WORD})*+)"""
    rf"""(?P<redirections>(?:[ \t]*+(?:[12]?>>?[ \t]*+{_WORD}|[12]>&[12]|<[ \t]*+{_WORD}))*+)[ \t]*\Z"""
)
# Words that only a shell can run: reserved words, and built-ins that are no programs of their own.
_SHELL_ONLY = frozenset(
    re.split(
        r"\s+",
        """
alias bg bind break builtin case cd command continue coproc declare dirs do done elif else esac eval exec exit export fc
fg fi for function getopts hash if in jobs let local logout popd pushd read readonly return select set shift shopt source
suspend then time times trap type typeset ulimit umask unalias unset until wait while
""".strip(),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """A command line that is one program, perhaps in a folder and with redirections."""

    folder: str
    words: str
    redirections: str


def simple(command: str) -> Simple | None:
    """The parts of a command that is a single program; None for everything that needs a shell around it."""
    found = _SIMPLE.match(command.strip(" \t"))
    if found is None:
        return None
    first = found["words"].split()[0]
    if "=" in first or first in _SHELL_ONLY:
        return None
    return Simple(folder=found["cd"] or "", words=found["words"], redirections=found["redirections"].strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What is put around a command. Times in seconds; `wait` None: do not wait for the lock; `lock` None: none is taken."""

    name: str
    lock: str | None
    timeout: int
    grace: int
    wait: int | None = None
    tell: bool = True


def _shell_of(shell: str) -> str:
    if shell.rpartition("/")[2] not in POSIX_SHELLS or not shell.startswith("/"):
        raise NotWritable(
            f"SHELL={shell} is not a shell whose words can be quoted for certain", "set SHELL=/bin/sh above the entry"
        )
    return shell


def _parts(command: str, shell: str) -> Simple:
    whole = Simple(folder="", words=sh_words(_shell_of(shell), "-c", command.strip(" \t")), redirections="")
    return simple(command) or whole


def _tell(guard: Guard) -> str:
    text = f"{guard.name}: skipped, the run before is still alive"
    return sh_words(LOGGER, "-t", "cron2queue", "-p", "cron.warning", text)


def _gnu(parts: Simple, guard: Guard) -> str:
    limit = sh_words(TIMEOUT, "-k", str(guard.grace), str(guard.timeout))
    if guard.lock is None:
        return f"{parts.folder}{limit} {parts.words} {parts.redirections}".rstrip()
    how = ("-n",) if guard.wait is None else ("-w", str(guard.wait))
    lock = sh_words(FLOCK, *how, "-E", str(BUSY), guard.lock)
    command = f"{parts.folder}{lock} {limit} {parts.words} {parts.redirections}".rstrip()
    if not guard.tell:
        return command
    # The status is kept: cron -L 4 logs it. 75 is the lock's, or the command's own "try again".
    return f"{command} || {{ s=$?; [ $s -ne {BUSY} ] || {_tell(guard)}; exit $s; }}"


def _busybox(parts: Simple, guard: Guard) -> str:
    run = f"exec timeout -k {guard.grace} {guard.timeout} {parts.words} {parts.redirections}".rstrip()
    if guard.lock is None:
        return f"{parts.folder}{run}"
    if guard.wait is not None:
        raise NotWritable("BusyBox flock cannot wait for a limited time", 'set overlap = "skip" in its table')
    busy = f"{{ {_tell(guard).replace(LOGGER, 'logger')}; exit {BUSY}; }}" if guard.tell else f"exit {BUSY}"
    return f"exec 9>{sh(guard.lock)}; flock -n 9 || {busy}; {parts.folder}{run}"


def tools(userland: Userland) -> tuple[str, ...]:
    """The programs that a wrapped line starts by their absolute paths."""
    return (FLOCK, TIMEOUT) if userland is Userland.GNU else ()


def guarded(command: str, guard: Guard, *, shell: str, userland: Userland) -> str:
    """The old command with lock and time limit. Raises NotWritable where it could not be kept as it is."""
    _shell_of(shell)
    form = _gnu if userland is Userland.GNU else _busybox
    return form(_parts(command, shell), guard)
