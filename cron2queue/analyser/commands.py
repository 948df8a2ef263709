"""Reads a shell command line as far as rules need it: simple commands, redirects, operators, prefixes, quoting.

One pass over the text with a bounded depth, so the time is linear in its length and hostile text cannot stall it. It is no
shell: nothing is expanded, here-documents are not read, and `complete` is False where the text ends inside a quote.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from cron2queue.expressions import regex

LONGEST = 20_000
DEEPEST = 12

_PIECE = regex(
    r"""(?P<blank>[ \t\r]+)
    |(?P<redirect>(?:(?<![^\s;&|()])\d{1,3})?(?:<<<|<<-?|<>|<&|>&|>>|>\||>|<)|&>>|&>)
    |(?P<operator>&&|\|\||\|&|;;|[;&|\n()])
    |(?P<plain>[^\s'"\\$`;&|<>()\#]+)
    |(?P<single>'[^']*')
    |(?P<double>")
    |(?P<escape>\\.)
    |(?P<arithmetic>\$\(\()
    |(?P<substitution>\$\()
    |(?P<variable>\$(?:\{[^}]*(?:\}|\Z)|\w+|[^\s\w(]?))
    |(?P<backtick>`(?:[^`\\]|\\.)*`)
    |(?P<hash>\#)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
# Most words hold nothing special and end at a blank or an operator.
_EASY_WORD = regex(r"[ \t\r]*+([^\s'\"\\$`;&|<>()#]+)(?=[ \t\n;&|()]|\Z)")
_INSIDE_DOUBLE = regex(
    r"""(?P<plain>[^"\\$`]+)|(?P<end>")|(?P<escape>\\.)|(?P<arithmetic>\$\(\()|(?P<substitution>\$\()"""
    r"""|(?P<variable>\$(?:\{[^}]*(?:\}|\Z)|\w+|[^\s\w("]?))|(?P<backtick>`(?:[^`\\]|\\.)*`)|(?P<other>.)""",
    re.DOTALL,
)
_ASSIGNMENT = regex(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_DESCRIPTOR = regex(r"\d+|-")
_RESERVED = frozenset({"{", "}", "!", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "time"})


class Word(NamedTuple):
    """One word: `text` without its quotes, where it starts, and what is special about it.

    `expands`: a variable or a command's output is part of it. `quoted`: some of it stood in quotes.
    """

    text: str
    start: int
    end: int
    expands: bool = False
    quoted: bool = False


class Redirect(NamedTuple):
    """`2>>file`: the descriptor (None: the operator's own), the operator and the target."""

    fd: int | None
    operator: str
    target: str
    start: int

    @property
    def writes_stdout(self) -> bool:
        """It sends standard output somewhere."""
        return self.operator.startswith("&>") or (self.operator.startswith(">") and self.fd in (None, 1))


class SimpleCommand(NamedTuple):
    """Words and redirects between two operators; a group's redirects make a command without words.

    `before` and `after` are the operators around it ("" at the ends); `depth` counts the brackets around it, and
    `substitution` says that its output is part of another command's words.
    """

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, str], ...]
    redirects: tuple[Redirect, ...]
    before: str
    after: str
    depth: int
    substitution: bool
    start: int
    end: int

    @property
    def texts(self) -> tuple[str, ...]:
        """The words without their quotes."""
        return tuple([word.text for word in self.words])


class CommandLine(NamedTuple):
    """A whole command line; `comment` is where a shell comment starts.

    `top` are the commands that run for themselves, not for their output in another's words.
    """

    text: str
    commands: tuple[SimpleCommand, ...]
    complete: bool
    comment: int | None = None
    top: tuple[SimpleCommand, ...] = ()


class _Draft:
    def __init__(self, before: str = "") -> None:
        self.before = before
        self.start: int | None = None
        self.words: list[Word] = []
        self.assignments: list[tuple[str, str]] = []
        self.redirects: list[Redirect] = []


class _Reader:
    def __init__(self, text: str, *, depth: int = 0, substitution: bool = False) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.substitution = substitution
        self.commands: list[SimpleCommand] = []
        self.complete = len(text) <= LONGEST
        self.comment: int | None = None
        self.limit = min(len(text), LONGEST)

    def read_commands(self, *, closing: bool) -> None:
        """Up to the end of the text or, inside a substitution, to its closing bracket."""
        draft, nested = _Draft(), 0
        while self.at < self.limit:
            easy = _EASY_WORD.match(self.text, self.at, self.limit)
            if easy is not None:
                start, self.at = easy.span(1)
                self._take(draft, Word(easy[1], start, self.at))
                continue
            piece = _PIECE.match(self.text, self.at)
            assert piece is not None
            kind, value = piece.lastgroup, piece.group()
            if kind == "blank" or value == "\\\n":
                self.at = piece.end()
            elif kind == "hash":
                self._skip_comment()
            elif kind == "redirect":
                self._redirect(draft, value)
            elif kind != "operator":
                self._take(draft, self._word())
            else:
                self.at = piece.end()
                if value == ")" and closing and nested == 0:
                    self._finish(draft, "", self.depth)
                    return
                self._finish(draft, value, self.depth + nested)
                nested = min(nested + 1, DEEPEST) if value == "(" else max(nested - 1, 0) if value == ")" else nested
                draft = _Draft(before=value)
        self._finish(draft, "", self.depth + nested)
        self.complete = self.complete and not closing

    def _skip_comment(self) -> None:
        if self.comment is None:
            self.comment = self.at
        end = self.text.find("\n", self.at, self.limit)
        self.at = self.limit if end < 0 else end

    def _take(self, draft: _Draft, word: Word) -> None:
        if draft.start is None:
            draft.start = word.start
        if not draft.words:
            if not word.quoted and word.text in _RESERVED:
                return
            if "=" in word.text and not self.text.startswith(("'", '"'), word.start):
                assignment = _ASSIGNMENT.fullmatch(word.text)
                if assignment:
                    draft.assignments.append((assignment[1], assignment[2]))
                    return
        draft.words.append(word)

    def _redirect(self, draft: _Draft, value: str) -> None:
        start = self.at
        draft.start = start if draft.start is None else draft.start
        self.at += len(value)
        operator = value.lstrip("0123456789")
        number = value[: len(value) - len(operator)]
        while self.at < self.limit and self.text[self.at] in " \t":
            self.at += 1
        draft.redirects.append(Redirect(int(number) if number else None, operator, self._target(operator), start))

    def _target(self, operator: str) -> str:
        copied = _DESCRIPTOR.match(self.text, self.at) if operator in (">&", "<&") else None
        if copied:
            self.at = copied.end()
            return copied.group()
        return self._word().text if self.at < self.limit and self.text[self.at] not in ";&|<>()\n" else ""

    def _finish(self, draft: _Draft, after: str, depth: int) -> None:
        if draft.start is None:
            return
        end = self.at - len(after)
        self.commands.append(
            SimpleCommand(
                tuple(draft.words),
                tuple(draft.assignments),
                tuple(draft.redirects),
                draft.before,
                after,
                depth,
                self.substitution,
                draft.start,
                end,
            )
        )

    def _word(self) -> Word:
        start, parts, expands, quoted = self.at, [], False, False
        while self.at < self.limit:
            piece = _PIECE.match(self.text, self.at)
            assert piece is not None
            kind, value = piece.lastgroup, piece.group()
            if kind in ("blank", "operator", "redirect"):
                break
            self.at = piece.end()
            if kind == "single":
                quoted = True
                parts.append(value[1:-1])
            elif kind == "double":
                quoted = True
                expands |= self._double_quoted(parts)
            elif kind == "escape":
                parts.append("" if value == "\\\n" else value[1])
            elif kind in ("plain", "hash"):
                parts.append(value)
            else:
                expands |= self._expansion(kind, value, parts)
        return Word("".join(parts), start, self.at, expands, quoted)

    def _double_quoted(self, parts: list[str]) -> bool:
        expands = False
        while self.at < self.limit:
            piece = _INSIDE_DOUBLE.match(self.text, self.at)
            assert piece is not None
            kind, value = piece.lastgroup, piece.group()
            self.at = piece.end()
            if kind == "end":
                return expands
            if kind == "plain":
                parts.append(value)
            elif kind == "escape":
                parts.append(value[1] if value[1] in '$`"\\' else value)
            else:
                expands |= self._expansion(kind, value, parts)
        self.complete = False
        return expands

    def _expansion(self, kind: str | None, value: str, parts: list[str]) -> bool:
        if kind == "other":  # an unclosed quote or a stray backslash
            self.complete = False
            parts.append(value)
            return False
        start = self.at - len(value)
        if kind == "substitution":
            self._nested_commands()
        elif kind == "arithmetic":
            end = self.text.find("))", self.at, self.limit)
            self.complete = self.complete and end >= 0
            self.at = self.limit if end < 0 else end + 2
        elif kind == "variable" and value.startswith("${"):  # one that nothing closes takes the rest, as the shell's does
            self.complete = self.complete and value.endswith("}")
        elif kind == "backtick" and self.depth < DEEPEST:
            self._adopt(_Reader(value[1:-1], depth=self.depth + 1, substitution=True), start + 1)
        parts.append(self.text[start : self.at])
        return len(value) > 1

    def _nested_commands(self) -> None:
        if self.depth >= DEEPEST:
            self.complete, self.at = False, self.limit
            return
        outer = (self.depth, self.substitution)
        self.depth, self.substitution = self.depth + 1, True
        before = self.complete
        self.read_commands(closing=True)
        if self.at <= self.limit and self.text[self.at - 1 : self.at] == ")":
            self.complete = before
        self.depth, self.substitution = outer

    def _adopt(self, inner: "_Reader", offset: int) -> None:
        inner.read_commands(closing=False)
        self.complete = self.complete and inner.complete
        self.commands.extend(_shifted(inner.commands, offset))


def _shifted(commands: list[SimpleCommand], offset: int) -> Iterator[SimpleCommand]:
    for each in commands:
        words = tuple(Word(w.text, w.start + offset, w.end + offset, w.expands, w.quoted) for w in each.words)
        redirects = tuple(Redirect(r.fd, r.operator, r.target, r.start + offset) for r in each.redirects)
        yield SimpleCommand(
            words,
            each.assignments,
            redirects,
            each.before,
            each.after,
            each.depth,
            True,
            each.start + offset,
            each.end + offset,
        )


@lru_cache(maxsize=1024)
def read_command(text: str) -> CommandLine:
    """The command line, read; at most the first 20,000 characters of it."""
    reader = _Reader(text)
    reader.read_commands(closing=False)
    commands = tuple(sorted(reader.commands, key=lambda each: each.start))
    top = tuple(each for each in commands if not each.substitution)
    return CommandLine(text, commands, reader.complete, reader.comment, top)


def here_document(command: str) -> Redirect | None:
    """The redirect that begins the first here-document; bash's `((x << 1))` begins none."""
    if "<<" not in command:
        return None
    redirects = (each for found in read_command(command).commands for each in found.redirects)
    begun = (each for each in redirects if each.operator in ("<<", "<<-") and each.target)
    return next((each for each in begun if not _in_arithmetic(command, each.start)), None)


def _in_arithmetic(command: str, at: int) -> bool:
    """The last bracket before it is the second of two that open."""
    last = max(command.rfind("(", 0, at), command.rfind(")", 0, at))
    return command[max(0, last - 1) : last + 1] == "(("
