"""What bash understands and dash, Debian's /bin/sh, does not: read off the command line, with what dash makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from cron2queue.analyser.commands import Redirect, SimpleCommand, Word, read_command
from cron2queue.analyser.finding import Severity
from cron2queue.expressions import regex
from cron2queue.record import Record

_SUSPECT = regex(
    r"\[\[|&>|>&|<<<|[<>]\(|\|&|==|\+=|\$'|RANDOM|HOSTNAME|SECONDS|BASH_SOURCE|UID|\{[^{}\s]*(?:\.\.|,)|\$\{[!\w]|\(\(|=\(|pipefail"
    r"|\b(?:echo|export|read|printf|wait)\s+-"
    r"|\b(?:source|pushd|popd|dirs|shopt|declare|typeset|let|mapfile|readarray|disown|function|select|local)\b"
)
# A variable that dash does not set: within $((...)) without a $ it counts as 0, with one it leaves a gap.
_COUNTED = regex(r"\$\(\((?:[^)$]|\$(?!RANDOM))*?\bRANDOM\b")
_GAP = regex(r"\$\(\([^)]*\$\{?RANDOM\b")
_UNSET = regex(
    r"\$(?:\{(?P<braced>RANDOM|HOSTNAME|SECONDS|BASH_SOURCE|E?UID)\}|(?P<plain>RANDOM|HOSTNAME|SECONDS|BASH_SOURCE|E?UID)\b)"
)
_EXPANSION = regex(r"\$\{(?:!\w|\w+(?:\^|,|/|:[\d $(]|@))")
_APPENDED = regex(r"[A-Za-z_]\w*\+=")
_BRACES = regex(r"(?<!\$)\{(?:-?\d+\.\.-?\d+|[a-z]\.\.[a-z]|[^{}\s'\"$,]*,[^{}\s'\"]*)\}")
_MISSING_NAMES = "source pushd popd dirs shopt declare typeset let mapfile readarray disown"
_MISSING = frozenset(_MISSING_NAMES.split())
# Programs that read {a,b} in an address themselves.
_OWN_BRACES = frozenset({"curl", "aria2c", "lftp"})
_ILLEGAL = {("set", "pipefail"), ("export", "-f"), ("read", "-a"), ("read", "-t"), ("printf", "-v"), ("wait", "-n")}
_SYNTAX = "a syntax error, nothing runs"
_BASH = "SHELL=/bin/bash"


class Bashism(Record):
    """What dash makes of it, what to write instead, and where it stands in the command (from 0)."""

    message: str
    remedy: str
    start: int
    severity: Severity = Severity.ERROR
    variable: str | None = None
    """The variable that bash sets and dash does not; it may be set otherwise."""


@lru_cache(maxsize=1024)
def bashisms(command: str) -> tuple[Bashism, ...]:
    """Every such construct outside quotes, in order, each kind once; empty where dash reads the line as bash does."""
    if not _SUSPECT.search(command):
        return ()
    found = (each for simple in read_command(command).commands for each in _in(command, simple))
    first = {each.message: each for each in sorted(found, key=lambda each: -each.start)}
    return tuple(sorted(first.values(), key=lambda each: each.start))


def _in(command: str, each: SimpleCommand) -> Iterator[Bashism]:
    for redirect in each.redirects:
        yield from _in_redirect(command, redirect)
    yield from _in_shape(command, each)
    if each.words:
        yield from _in_builtin(each)
    for word in each.words:
        yield from _in_word(each, word)
        if command[word.start : word.start + 2] == "$'":
            message = "dash knows no $'...': it is printed with its $ and its backslashes"
            yield Bashism(message=message, remedy="use printf", start=word.start, severity=Severity.WARNING)


def _in_redirect(command: str, redirect: Redirect) -> Iterator[Bashism]:
    operator, start = redirect.operator, redirect.start
    if operator.startswith("&>"):
        message = "dash knows no &>: the command goes to the background, its output not redirected"
        yield Bashism(message=message, remedy="write > FILE 2>&1", start=start)
    elif operator == "<<<":
        yield Bashism(message=f"dash knows no <<<: {_SYNTAX}", remedy="use printf ... | COMMAND", start=start)
    elif operator == ">&" and not redirect.target.isdigit() and redirect.target != "-":
        yield Bashism(message="dash knows no >&FILE: the command does not run", remedy="write > FILE 2>&1", start=start)
    elif operator in ("<", ">") and not redirect.target and command.startswith("(", start + len(operator)):
        yield Bashism(message=f"dash knows no {operator}(...): {_SYNTAX}", remedy=f"use a file, or {_BASH}", start=start)


def _in_shape(command: str, each: SimpleCommand) -> Iterator[Bashism]:
    """Operators and brackets around it."""
    if each.after == "|&":
        yield Bashism(message=f"dash knows no |&: {_SYNTAX}", remedy="write 2>&1 |", start=each.end)
    elif each.assignments and not each.words and command.startswith("=(", each.end - 1):
        yield Bashism(message=f"dash knows no arrays: {_SYNTAX}", remedy=_BASH, start=each.start)
    elif each.texts == ("for",) and command.startswith("((", each.end):
        yield Bashism(message=f"dash knows no for ((...)): {_SYNTAX}", remedy=f"use seq, or {_BASH}", start=each.start)


def _in_builtin(each: SimpleCommand) -> Iterator[Bashism]:
    first, words = each.words[0].text, each.texts[1:]
    if first == "[[":
        yield Bashism(
            message="dash knows no [[: not found, and the test fails", remedy=f"write [ ... ], or {_BASH}", start=each.start
        )
    elif first in _MISSING:
        portable = {"source": "write . FILE", "pushd": "use cd", "popd": "use cd", "let": "use $((...))"}.get(first)
        remedy = f"{portable}, or {_BASH}" if portable else _BASH
        yield Bashism(message=f"dash knows no {first}: not found", remedy=remedy, start=each.start)
    elif _APPENDED.match(first):
        yield Bashism(message="dash knows no +=: not found", remedy="write NAME=$NAME...", start=each.start)
    elif first in ("function", "select"):
        yield Bashism(message=f"dash knows no {first}: {_SYNTAX}", remedy=_BASH, start=each.start)
    elif first in ("[", "test") and "==" in words:
        yield Bashism(message=f"dash's {first} knows no ==: the test fails", remedy="write =", start=each.start)
    elif any((first, word) in _ILLEGAL for word in words):
        told = next(word for word in words if (first, word) in _ILLEGAL)
        message = f"dash's {first} knows no {told}: an illegal option"
        yield Bashism(
            message=message + (", at which the shell ends" if first in ("set", "export") else ""),
            remedy=_BASH,
            start=each.start,
        )
    elif first == "echo" and words[:1] and re.fullmatch(r"-[neE]*e[neE]*", words[0]):
        message = f"dash's echo knows no {words[0]}: it is printed with the text"
        yield Bashism(message=message, remedy="use printf", start=each.start, severity=Severity.NOTE)


def _in_word(each: SimpleCommand, word: Word) -> Iterator[Bashism]:
    if word.expands:
        yield from _in_variables(word)
    if word.expands and (found := _EXPANSION.search(word.text)):
        message = f"dash knows no {found.group()}...}}: a bad substitution, nothing runs"
        yield Bashism(message=message, remedy=_BASH, start=word.start)
    program = each.words[0].text.rpartition("/")[2]
    if not word.quoted and program not in _OWN_BRACES and (found := _BRACES.search(word.text)):
        message = f"dash expands no braces: {found.group()} is taken as it is written"
        yield Bashism(message=message, remedy=f"write each word out, or {_BASH}", start=word.start, severity=Severity.WARNING)


def _in_variables(word: Word) -> Iterator[Bashism]:
    """Variables that bash sets itself."""
    random = f"use shuf -i 0-600 -n 1, or {_BASH}"
    if _GAP.search(word.text):
        message = "dash knows no RANDOM: $((... $RANDOM ...)) is a syntax error, at which the shell ends"
        yield Bashism(message=message, remedy=random, start=word.start, variable="RANDOM")
    elif _COUNTED.search(word.text):
        yield Bashism(
            message="dash knows no RANDOM: it counts as 0", remedy=random, start=word.start, severity=Severity.WARNING,
            variable="RANDOM",
        )  # fmt: skip
    elif found := _UNSET.search(word.text):
        name = found["braced"] or found["plain"]
        remedy = {"RANDOM": random, "HOSTNAME": "use $(hostname)", "UID": "use $(id -u)", "EUID": "use $(id -u)"}.get(
            name, _BASH
        )
        message = f"dash sets no {name}: it is empty"
        yield Bashism(message=message, remedy=remedy, start=word.start, severity=Severity.WARNING, variable=name)
