"""What a command line really runs: the programs behind `flock`, `timeout`, `sudo`, `env`, `sh -c` and their like."""

from functools import lru_cache
from typing import NamedTuple

from cron2queue.analyser.commands import SimpleCommand, read_command

_DEEPEST_SHELL = 4


class Spec(NamedTuple):
    """How a wrapping program's words are laid out before the command that it runs.

    `valued`: options with a value in the next word. `positional`: words of its own before the command.
    `script`: the option whose value is a command line for the shell. `single_dash`: `-n10` style numbers count as options.
    """

    valued: frozenset[str] = frozenset()
    positional: int = 0
    script: str | None = None


def _spec(valued: str = "", positional: int = 0, script: str | None = None) -> Spec:
    return Spec(frozenset(valued.split()), positional, script)


_SHELL = _spec("-o -O --rcfile --init-file", script="-c")
WRAPPERS: dict[str, Spec] = {
    "flock": _spec("-w --wait --timeout -E --conflict-exit-code", 1, "-c"),
    "timeout": _spec("-k --kill-after -s --signal", 1),
    "nice": _spec("-n --adjustment"),
    "ionice": _spec("-c --class -n --classdata"),
    "chrt": _spec("-T -P -D", 1),
    "taskset": _spec("", 1),
    "env": _spec("-u --unset -C --chdir"),
    "sudo": _spec("-u --user -g --group -h --host -p --prompt -C -r -t -T -U -D -R"),
    "doas": _spec("-u -C"),
    "runuser": _spec("-u --user -g -G -s --shell", script="-c"),
    "su": _spec("-s --shell -g -G -w", 1, "-c"),
    "nohup": _spec(),
    "setsid": _spec(),
    "time": _spec("-f --format -o --output"),
    "exec": _spec("-a"),
    "command": _spec(),
    "eval": _spec(),
    "chronic": _spec(),
    "cronic": _spec(),
    "unbuffer": _spec(),
    "stdbuf": _spec("-i -o -e"),
    "systemd-cat": _spec("-t --identifier -p --priority --stderr-priority"),
    "systemd-run": _spec("-p --property -u --unit --slice -t --uid --gid -E --setenv"),
    "systemd-inhibit": _spec(),
    "cgexec": _spec("-g"),
    "chpst": _spec("-u -U -b -e -/ -n -l -L -m -d -o -p -f -c -t"),
    "softlimit": _spec("-m -d -s -l -a -o -p -f -c -r -t"),
    "setuidgid": _spec("", 1),
    "gosu": _spec("", 1),
    "chroot": _spec("", 1),
    "run-one": _spec(),
    "run-this-one": _spec(),
    "setlock": _spec("", 1),
    "lckdo": _spec("-W -E", 1),
    "lockf": _spec("-t", 1),
    "lockrun": _spec("-L --lockfile -w --maxtime"),
    "with-lock-ex": _spec("", 1),
    "solo": _spec(),
    "cronitor": _spec("", 2),
    "xvfb-run": _spec("-n --server-num -s --server-args -e -f -p -w"),
    "ssh": _spec("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", 1),
    "sh": _SHELL,
    "bash": _SHELL,
    "dash": _SHELL,
    "ksh": _SHELL,
    "zsh": _SHELL,
    "ash": _SHELL,
}
_CONTAINER = {
    ("docker", "exec"): _spec("-u --user -w --workdir -e --env --env-file --detach-keys", 1),
    ("podman", "exec"): _spec("-u --user -w --workdir -e --env --env-file", 1),
    ("docker", "compose"): _spec("-f --file -p --project-name -u --user -w --workdir -e --env", 2),
    ("docker-compose", "exec"): _spec("-u --user -w --workdir -e --env", 1),
}
LOCKS = frozenset({"flock", "setlock", "lckdo", "lockf", "lockrun", "with-lock-ex", "run-one", "run-this-one"})


class Wrapper(NamedTuple):
    """One wrapping program with its own words (options and positional ones)."""

    program: str
    words: tuple[str, ...]

    def has(self, *options: str) -> bool:
        """One of the options is given, alone or (single letters) in a group like `-nx`."""
        letters = {option[1] for option in options if len(option) == 2}
        for word in self.words:
            if word.partition("=")[0] in options:
                return True
            if word.startswith("-") and not word.startswith("--") and letters & set(word[1:]):
                return True
        return False

    @property
    def positional(self) -> tuple[str, ...]:
        """Its words that are neither options nor their values."""
        spec, found, skip = WRAPPERS.get(self.program, _SHELL), [], False
        for word in self.words:
            if skip:
                skip = False
            elif word.startswith("-") and word != "-":
                skip = word in spec.valued
            else:
                found.append(word)
        return tuple(found)


class Invocation(NamedTuple):
    """One program that is run: `program` is its name without the folder, `words` its arguments, `wrappers` outermost first.

    `simple` is the simple command of the line (for a command inside `sh -c '…'`: the inner one, with `inner` set).
    """

    path: str
    program: str
    words: tuple[str, ...]
    wrappers: tuple[Wrapper, ...]
    simple: SimpleCommand
    inner: bool = False

    def wrapped_by(self, *programs: str) -> Wrapper | None:
        """The outermost of these wrappers around it."""
        return next((each for each in self.wrappers if each.program in programs), None)


def _invocation(
    path: str, words: tuple[str, ...], wrappers: tuple[Wrapper, ...], simple: SimpleCommand, *, inner: bool
) -> Invocation:
    program = path.rstrip("/").rpartition("/")[2] if "/" in path else path
    return Invocation(path, program, words, wrappers, simple, inner)


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _spec_for(words: tuple[str, ...]) -> tuple[str, Spec | None, int]:
    program = words[0].rpartition("/")[2]
    container = _CONTAINER.get((program, words[1])) if len(words) > 1 else None
    if container is not None:
        return program, container, 2
    return program, WRAPPERS.get(program), 1


def _own_words(words: tuple[str, ...], spec: Spec, at: int) -> tuple[int, str | None]:
    """Where the wrapped command starts, and the shell text if that is how it is given."""
    positional, script = spec.positional, None
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            if positional == 0:
                break
        elif word.startswith("-") and len(word) > 1:
            takes_script = spec.script is not None and _gives_script(word)
            if takes_script and at + 1 < len(words):
                return len(words), words[at + 1]
            at += 2 if word in spec.valued else 1
        elif _is_assignment(word) and spec.positional == 0:
            at += 1
        elif positional > 0:
            positional -= 1
            at += 1
        else:
            break
    return at, script


def _gives_script(word: str) -> bool:
    return word in ("-c", "--command") or (word[0] == "-" and word[1:2] != "-" and word.endswith("c") and word[1:].isalpha())


def _unwrap(simple: SimpleCommand, words: tuple[str, ...], *, inner: bool, shells: int) -> tuple[Invocation, ...]:
    wrappers: list[Wrapper] = []
    while words:
        program, spec, at = _spec_for(words)
        if spec is None:
            break
        start, script = _own_words(words, spec, at)
        if program == "su" and script is None:
            script, start = _su_script(words), len(words)
        if script is not None and shells < _DEEPEST_SHELL:
            wrappers.append(Wrapper(program, words[1:]))
            return _inside(script, tuple(wrappers), simple, shells)
        if start >= len(words) or (spec is _SHELL and start < len(words)):
            break  # nothing is wrapped: the program itself is what runs (`flock 9`, `bash script`)
        wrappers.append(Wrapper(program, words[1:start]))
        words = words[start:]
        if program in ("ssh", "eval") and len(words) == 1 and " " in words[0] and shells < _DEEPEST_SHELL:
            return _inside(words[0], tuple(wrappers), simple, shells)
    if not words:
        return ()
    return (_invocation(words[0], words[1:], tuple(wrappers), simple, inner=inner),)


def _su_script(words: tuple[str, ...]) -> str | None:
    for at, word in enumerate(words[:-1]):
        if word in ("-c", "--command"):
            return words[at + 1]
    return None


def _inside(script: str, wrappers: tuple[Wrapper, ...], simple: SimpleCommand, shells: int) -> tuple[Invocation, ...]:
    found: list[Invocation] = []
    for command in read_command(script).commands:
        runs = _unwrap(command, command.texts, inner=True, shells=shells + 1)
        found.extend(_invocation(each.path, each.words, wrappers + each.wrappers, each.simple, inner=True) for each in runs)
    return tuple(found) or (_invocation(wrappers[-1].program, (script,), wrappers[:-1], simple, inner=True),)


@lru_cache(maxsize=1024)
def invocations(text: str) -> tuple[Invocation, ...]:
    """Every program that the command line runs, in reading order, substitutions included."""
    found: list[Invocation] = []
    for simple in read_command(text).commands:
        found.extend(_unwrap(simple, simple.texts, inner=False, shells=0))
    return tuple(found)


_PRELUDE_NAMES = """
    cd test [ [[ sleep echo printf export set unset : true false . source exit umask ulimit for case return read
    which type hash date logger trap wait flock
    grep egrep pgrep pidof ps kinit
"""
_PRELUDE = frozenset(_PRELUDE_NAMES.split())
# Often the job itself, but seldom where something else stands beside them.
_CHORES = frozenset({"touch", "rm", "mkdir"})


@lru_cache(maxsize=1024)
def main_invocation(text: str) -> Invocation | None:
    """The program for whose sake the line exists: the first that is no preparation, test or pause."""
    all_of_them = [each for each in invocations(text) if not each.simple.substitution]
    jobs = [each for each in all_of_them if each.program not in _PRELUDE and not _only_asks(each)]
    first = next((each for each in jobs if each.program not in _CHORES), None)
    return first or next(iter([*jobs, *all_of_them]), None)


def _only_asks(each: Invocation) -> bool:
    """`command -v x` and `perl -e 'sleep …'` prepare; they are not the job."""
    if any(w.program == "command" and w.has("-v", "-V") for w in each.wrappers):
        return True
    return each.program in ("perl", "python3", "python") and any("sleep" in word for word in each.words[1:2])
