"""Locks and time limits around a command."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.comments import duration
from cron2queue.analyser.invocations import LOCKS, Invocation, Wrapper, invocations, main_invocation
from cron2queue.expressions import regex

_WORD = regex(
    r"flock|lck|lock|run-one|run-this-one|solo|pgrep|pidof|timeout|fcron|limit|maxtime|max-time|curl|touch|mkdir|\$\$"
)
# Programs by which lines keep themselves apart by hand.
_BY_HAND = frozenset({"pgrep", "pidof", "lockfile", "dotlockfile", "lockfile-create", "shlock", "solo", "lock-run"})


class Lock(NamedTuple):
    """A lock around the command: the tool, its file (None: the tool chooses), and whether a second start ends at once."""

    tool: str
    file: str | None
    skips: bool
    invocation: Invocation


@lru_cache(maxsize=1024)
def locks_of(command: str) -> tuple[Lock, ...]:
    """Every lock that the line takes through a known tool, the descriptor form of flock included."""
    if not _WORD.search(command):
        return ()
    found: list[Lock] = []
    for each in invocations(command):
        for wrapper in each.wrappers:
            if wrapper.program in LOCKS and not any(lock.invocation is each for lock in found):
                positional = wrapper.positional
                found.append(Lock(wrapper.program, positional[0] if positional else None, _gives_up(wrapper), each))
        if each.program == "flock" and any(word.isdigit() for word in each.words):
            found.append(Lock("flock", _descriptor_file(command, each), _skips(each.words), each))
    return tuple(found)


def _gives_up(wrapper: Wrapper) -> bool:
    """Whether a start that finds the lock taken ends, at once or after some seconds, by the tool's own manual."""
    match wrapper.program:
        case "flock":
            return wrapper.has("-n", "--nb", "--nonblock", "--nonblocking", "-w", "--wait", "--timeout")
        case "setlock":
            return wrapper.has("-n")
        case "lockf":
            return wrapper.has("-t")
        case "lckdo":
            return not wrapper.has("-w")
        case "lockrun":
            return not wrapper.has("-W", "--wait")
        case "with-lock-ex":
            return not wrapper.has("-w")
    return True


def _skips(words: tuple[str, ...]) -> bool:
    options = [word for word in words if word.startswith("-")]
    return any(
        word in ("--nonblock", "--nb", "--wait", "--timeout") or (word[1:2] != "-" and set(word) & {"n", "w"})
        for word in options
    )


def _descriptor_file(command: str, each: Invocation) -> str | None:
    numbers = [int(word) for word in each.words if word.isdigit()]
    for simple in read_command(command).commands:
        for redirect in simple.redirects:
            if redirect.fd in numbers:
                return redirect.target
    return None


@lru_cache(maxsize=1024)
def holds_lock(command: str) -> bool:
    """A known lock tool, or a test by hand (`pgrep`, a lock file), keeps two copies apart, well or badly."""
    if not _WORD.search(command):
        return False
    return bool(locks_of(command)) or _by_program(command) or _by_file(command)


def _by_program(command: str) -> bool:
    programs = (program for each in invocations(command) for program in (each.program, *(w.program for w in each.wrappers)))
    return any(program in _BY_HAND for program in programs)


def _by_file(command: str) -> bool:
    """The line looks for the file or folder that it makes: `[ -f x.pid ] || (touch x.pid; …; rm x.pid)`, `mkdir x && …`."""
    tested, made, removed = set[str](), set[str](), set[str]()
    for each in invocations(command):
        words = [word for word in each.words if word[:1] not in ("-", "!", "]")]
        kept = {"[": tested, "test": tested, "touch": made, "mkdir": made, "rm": removed, "rmdir": removed}.get(each.program)
        if kept is not None:
            kept.update(words)
        made.update(redirect.target for redirect in each.simple.redirects if redirect.writes_stdout)
    return bool(tested & made) or bool({*_made_folders(command)} & removed)


def _made_folders(command: str) -> Iterator[str]:
    return (word for each in invocations(command) if each.program == "mkdir" and "-p" not in each.words for word in each.words)


@lru_cache(maxsize=1024)
def time_limit(command: str) -> float | None:
    """Seconds after which `timeout` (or a like option of the program itself) ends the main program, or None."""
    if not _WORD.search(command):
        return None
    main = main_invocation(command)
    wrapper = main.wrapped_by("timeout") if main else None
    if wrapper is not None and wrapper.positional:
        return duration(wrapper.positional[0])
    if main is not None:
        return _own_limit(main)
    return None


def _own_limit(main: Invocation) -> float | None:
    for at, word in enumerate(main.words):
        name, _, value = word.partition("=")
        if name in ("--max-time", "--time-limit", "--timeout", "--maxtime"):
            return duration(value or (main.words[at + 1] if at + 1 < len(main.words) else ""))
        if name == "-m" and main.program == "curl" and at + 1 < len(main.words):
            return duration(main.words[at + 1])
    return None
