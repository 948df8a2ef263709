"""Why a line is malformed, where one rule can say more about it than the daemon's own message does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cron2queue.analyser.daemons import daemon
from cron2queue.analyser.templates import is_template_line, is_template_path
from cron2queue.analyser.wording import count
from cron2queue.crontab.lines import CrontabFile, Effect, Malformed
from cron2queue.expressions import regex

if TYPE_CHECKING:
    from cron2queue.analyser.rule import Subject

NO_NEWLINE, CARRIAGE_RETURN, BYTE_ORDER_MARK = "no-final-newline", "carriage-returns", "byte-order-mark"
EMPTY_ASSIGNMENT, SHELL_ASSIGNMENT = "empty-assignment", "shell-assignment"
MISSING_COMMAND, USER_COLUMN, UNKNOWN_USER = "missing-command", "user-column", "unknown-user"
VARIABLE_WITHOUT_EFFECT = "variable-without-effect"
BOM = b"\xef\xbb\xbf"
_EMPTY = regex(rb"[ \t]*[A-Za-z_][\w.-]*[ \t]*=[ \t\r]*\n?$")
_ASSIGNED = regex(rb"[ \t]*[A-Za-z_]\w*[ \t]*=")
_SHELL = regex(rb"[ \t]*(?:export|declare|typeset|set|setenv|readonly|unset|alias|source|\.)[ \t]+\S")
_JUNK_AFTER_QUOTE = regex(rb"[ \t]*[A-Za-z_][\w.-]*[ \t]*=[ \t]*([\"'])[^\"']*(?:\1.*)?\n?$")
_ONLY_SCHEDULE = regex(rb"[ \t]*(?:@[a-z]+(?:[ \t]+\S+)?|[^\s@#]+(?:[ \t]+[^\s]+){4,5})[ \t\r]*\n?$")
_AT_END = regex(rb"[^ \t\n]+\n")
_NAME = regex(r"[a-z_][a-z0-9_.-]*\$?$")


def is_assignment(raw: bytes) -> bool:
    """Whether a line that was not read sets a variable, by its look."""
    return _ASSIGNED.match(raw) is not None


def refused_user(line: Malformed) -> str:
    """The word that stands where the user should."""
    words = line.raw[line.column - 1 :].decode("utf-8", "surrogateescape").split()
    return words[0] if words else ""


def cause_of(file: CrontabFile, line: Malformed) -> str | None:
    """Slug of the rule that explains the line; None when the daemon's message says all there is."""
    message = line.message.lower()
    if file.dialect == "busybox" and is_assignment(line.raw) and "ignored in silence" in message:
        return VARIABLE_WITHOUT_EFFECT
    if "newline" in message and "eof" in message.replace("end of file", "eof"):
        return NO_NEWLINE
    if line.raw.startswith(BOM) and line.number == 1:
        return BYTE_ORDER_MARK
    if line.raw.strip(b" \t") in (b"\r\n", b"\r"):
        return CARRIAGE_RETURN
    if _EMPTY.match(line.raw):
        return EMPTY_ASSIGNMENT
    if _SHELL.match(line.raw) or _JUNK_AFTER_QUOTE.match(line.raw):
        return SHELL_ASSIGNMENT
    if "username" in message or "user unknown" in message:
        return _user_cause(line)
    if "bad command" in message and _ONLY_SCHEDULE.match(line.raw):
        return MISSING_COMMAND
    return None


def _user_cause(line: Malformed) -> str:
    """A name right before the end of the line has no command behind it, and the daemon has read on into the next line."""
    word = refused_user(line)
    if not _NAME.match(word) or word in COMMANDS:
        return USER_COLUMN
    return MISSING_COMMAND if _AT_END.match(line.raw, line.column - 1) else UNKNOWN_USER


_COMMAND_NAMES = """
    cd php python python2 python3 perl ruby node sh bash echo test [ rm cp mv find tar rsync curl wget mysqldump mysql pg_dump
    cat touch date sleep nice ionice flock timeout env sudo su certbot docker ln chmod chown service systemctl
    apt apt-get yum dnf nohup exec export java make npm kill killall logger gzip zip aws git ssh scp
"""
COMMANDS = frozenset(_COMMAND_NAMES.split())


def blast(file: CrontabFile, line: Malformed) -> str:
    """What the bad line costs under this daemon."""
    name = daemon(file.dialect).title
    if line.effect is Effect.FILE:
        entries = len(file.entries)
        with_it = f", {count(entries, 'entry')} with it" if entries else ""
        return f"{name} ignores the whole file{with_it}"
    if line.effect is Effect.LINE:
        return f"{name} {daemon(file.dialect).bad_line if file.dialect == 'freebsd' else 'skips this line'}"
    return f"{name} starts it at other times than are written"


def bad_lines(file: CrontabFile) -> list[Malformed]:
    """One for each physical line with something bad in it: FreeBSD's cron reads the rest of a line again, piece by piece."""
    pieces: dict[int, list[Malformed]] = {}
    for each in file.malformed:
        pieces.setdefault(each.number, []).append(each)
    if len(pieces) == len(file.malformed):
        return list(file.malformed)
    whole: dict[int, bytes] = {}
    for line in file.lines:
        if line.number in pieces:
            whole[line.number] = whole.get(line.number, b"") + line.raw
    return [first[0].but(raw=whole.get(number, first[0].raw)) for number, first in pieces.items()]


def lines_of_cause(subject: Subject, cause: str) -> Iterator[tuple[CrontabFile, Malformed]]:
    """Every malformed line with this cause, templates left out."""
    for file in subject.files:
        if is_template_path(file.path):
            continue
        for line in bad_lines(file):
            if cause_of(file, line) == cause and not is_template_line(file, line.raw):
                yield file, line
