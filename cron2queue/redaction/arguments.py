"""Secrets in command lines: words as a shell splits them, judged by the program that gets them.

The text may be a whole crontab line, a command, or the middle of one: a program is recognised wherever its name stands
as a word (after `sudo`, `timeout 5`, `docker exec db`), and stays in force up to the next `;`, `|`, `&` or bracket.
"""

import re
from collections.abc import Iterator

from cron2queue.expressions import regex
from cron2queue.redaction.names import Strength, names_teller, strength
from cron2queue.redaction.programs import Habits, habits_of
from cron2queue.redaction.spans import Span, bare, is_reference, looks_random

# Possessive throughout: a shell word is recognised without ever going back, so that time stays linear.
_TOKEN = regex(
    r"""(?P<word>(?>[^\s"'\\;|&()<>`]++|\\.?|'[^']*+'?|"(?>[^"\\]++|\\.?)*+"?)++)|(?P<here><<<)|(?P<operator>[;|&()`\n])""",
    re.S,
)
_ASSIGNED = regex(r"""["']?(?P<name>-{0,2}[A-Za-z_][\w.-]{0,80}?)\+?=""")
_LONG_OPTION = regex(r"(?:--[A-Za-z][\w.-]{2,60}|-[a-z_-]{3,40})\Z")
_FIRST_BARE_PERCENT = regex(r"(?<!\\)%")
_SAYS = regex(r"\s*(?:\S*/)?(?:echo|printf)\s+")
_QUOTE = regex(r"""["']""")
_BLANK = regex(r"\s")
_LOOKUPS = ("which", "command", "type")
_DEEPEST = 4
_LOOK_BACK = 12  # words from a program's name to its quoted argument
_STDIN_SAYS = ("--password-stdin", "--passphrase-fd", "-passin stdin", "--stdin")


def secrets(text: str) -> Iterator[Span]:
    """Spans of the secrets in the command lines of a text, quoted inner commands included."""
    yield from _of_lines(text, (0, len(text)), None, 0)
    yield from _percent_input(text)


def _of_lines(text: str, part: Span, outer: Habits | None, depth: int) -> Iterator[Span]:
    """`outer` is the program whose quoted argument this part is: `lftp -e 'open -u bob,X h'`."""
    command: list[Span] = []
    before: list[Span] = []
    here = False
    for token in _TOKEN.finditer(text, *part):
        if token["word"] is not None:
            command.append(token.span())
            inner = _quoted_command(text, token.span()) if depth < _DEEPEST else None
            if inner is not None:
                yield from _of_lines(text, inner, _last_program(text, command) or outer, depth + 1)
            if here:
                yield from _fed(text, command, [token.span()])
        elif token["operator"] is not None:
            yield from _of_command(text, command, outer)
            if token["operator"] in ")`" and command and text[slice(*command[0])] in _LOOKUPS:
                outer = _last_program(text, command)  # `$(which mysql) -pX`: what was looked up is what runs
            yield from _fed(text, command, before)
            before, command = (command if token["operator"] == "|" else []), []
        here = token["here"] is not None
    yield from _of_command(text, command, outer)
    yield from _fed(text, command, before)


def _quoted_command(text: str, word: Span) -> Span | None:
    """A quoted word with blanks in it may be a command of its own: `sh -c "mysql -pX"`."""
    quote = _QUOTE.search(text, *word)
    if quote is None or _BLANK.search(text, quote.end(), word[1]) is None:
        return None
    closed = word[1] - 1 > quote.start() and text[word[1] - 1] == quote.group()
    return quote.end(), word[1] - 1 if closed else word[1]


def _last_program(text: str, words: list[Span]) -> Habits | None:
    found = (habits_of(bare(text[start:end])) for start, end in reversed(words[-_LOOK_BACK:]))
    return next((habits for habits in found if habits is not None), None)


def _of_command(text: str, words: list[Span], outer: Habits | None) -> Iterator[Span]:
    habits = outer
    seen: set[str] = set()
    for position, (start, end) in enumerate(words):
        word = text[start:end]
        following = words[position + 1] if position + 1 < len(words) else None
        if not word.startswith("-"):
            habits = habits_of(bare(word)) or habits
        seen.add(word)
        if habits is not None:
            yield from _by_habit(text, habits, seen, (start, end), following)
        elif word.startswith("-p") and looks_random(word[2:]):
            yield start + 2, end  # torn from its program, as where a message quotes one word
        yield from _by_name(text, (start, end), following, words[-1][1])
    if habits is not None and habits.last and len(words) > 3 and any(re.match(rf"-\w*{habits.last}", word) for word in seen):
        yield words[-1]


def _by_habit(text: str, habits: Habits, seen: set[str], span: Span, following: Span | None) -> Iterator[Span]:
    if habits.after is not None and habits.after not in seen:
        return
    span = _unquoted(text, span)
    word = text[span[0] : span[1]]
    for option in habits.attached:
        if word.startswith(option) and len(word) > len(option) and not word.startswith("--"):
            yield from _unless_reference(text, (span[0] + len(option), span[1]))
    if word in habits.separate and following is not None:
        yield from _secret_word(text, following)
    if habits.operands and "/" in word and not word.startswith(("/", "-", ".")):
        yield from _oracle(text, span)
    for option, separator in (habits.pairs or {}).items():
        yield from _pair(text, option, separator, span, following)


def _unquoted(text: str, word: Span) -> Span:
    """The inside of a word that is quoted as a whole."""
    start, end = word
    whole = end - start > 2 and text[start] in "'\"" and text[end - 1] == text[start]
    return (start + 1, end - 1) if whole else word


def _secret_word(text: str, span: Span) -> Iterator[Span]:
    """The word is the secret, or, as openssl has it, `pass:SECRET`; `file:F`, `env:N` and `fd:N` only point to it."""
    word = bare(text[span[0] : span[1]])
    if word.startswith(("file:", "env:", "fd:")):
        return
    skipped = text.index("pass:", span[0]) + 5 if word.startswith("pass:") else span[0]
    yield from _unless_reference(text, (skipped, span[1]))


def _unless_reference(text: str, span: Span) -> Iterator[Span]:
    if not is_reference(text[span[0] : span[1]]):
        yield span


def _oracle(text: str, span: Span) -> Iterator[Span]:
    """user/secret@service, user/secret"""
    slash = text.index("/", *span)
    at = text.rfind("@", slash, span[1])
    yield from _unless_reference(text, (slash + 1, at if at > slash else span[1]))


def _pair(text: str, option: str, separator: str, span: Span, following: Span | None) -> Iterator[Span]:
    word = text[span[0] : span[1]]
    value: Span | None = None
    short = len(option) == 2
    if word == option or (short and re.fullmatch(rf"-[A-Za-z]*{option[1]}", word)):
        value = following
    elif word.startswith(option) and (short or word.startswith(option + "=")):
        value = (span[0] + len(option), span[1])
    if value is None:
        return
    split = text.find(separator, *value)
    if split >= 0:
        yield from _unless_reference(text, _value(text, value, split + 1))


def _value(text: str, word: Span, start: int) -> Span:
    """From `start` to the word's end, without the closing quote of a word that is quoted as a whole."""
    whole = text[word[0]] in "'\"" and text[word[1] - 1] == text[word[0]] and word[1] - 1 > start
    return start, word[1] - 1 if whole else word[1]


def _by_name(text: str, span: Span, following: Span | None, end: int) -> Iterator[Span]:
    """`NAME=secret` and `--name secret`, whatever the program; `end` is that of the command."""
    word = text[span[0] : span[1]]
    assigned = _ASSIGNED.match(word)
    if assigned is not None and names_teller(assigned["name"]):
        value = span[0] + assigned.end()
        yield from _told(text, (value, span[1] if text[value : value + 1] in ("'", '"') else end))
    elif following is not None and _LONG_OPTION.match(word) and names_teller(word):
        yield from _told(text, following)
    elif assigned is not None:
        yield from _named(text, assigned["name"], _value(text, span, span[0] + assigned.end()))
    elif following is not None and _LONG_OPTION.match(word) and text[following[0]] != "-":
        if strength(word) is Strength.STRONG:
            yield from _secret_word(text, following)
        elif strength(word) is Strength.WEAK:
            yield from _named(text, word, following)


def _told(text: str, command: Span) -> Iterator[Span]:
    """What `echo SECRET` says, the whole of it."""
    inside = _unquoted(text, command)
    said = _SAYS.match(text, *inside)
    if said is not None:
        yield from _unless_reference(text, (said.end(), inside[1]))


def _named(text: str, name: str, value: Span) -> Iterator[Span]:
    said = text[value[0] : value[1]]
    sure = strength(name)
    if is_reference(said) or sure is Strength.NONE or (sure is Strength.WEAK and not looks_random(said)):
        return
    yield value


def _reads_secret(text: str, words: list[Span]) -> bool:
    spoken = [bare(text[start:end]) for start, end in words]
    if any(word.startswith(_STDIN_SAYS) for word in spoken):
        return True
    for position, word in enumerate(spoken):
        habits = habits_of(word)
        if habits is not None and habits.stdin:
            return not word.endswith("sudo") or any(re.match(r"-[A-Za-z]*S", each) for each in spoken[position + 1 :])
    return False


def _fed(text: str, words: list[Span], source: list[Span]) -> Iterator[Span]:
    """`echo SECRET | sudo -S`, `chpasswd <<< user:SECRET`: what a program that asks for a secret is fed with."""
    if not source or not _reads_secret(text, words):
        return
    fed = source
    names = [bare(text[start:end]).rsplit("/", 1)[-1] for start, end in source]
    for speaker in ("echo", "printf"):
        if speaker in names:
            fed = source[names.index(speaker) + 1 :]
            break
    else:
        if len(source) > 1:
            return
    yield from (span for span in fed if text[span[0]] != "-" and not is_reference(text[span[0] : span[1]]))


def _percent_input(text: str) -> Iterator[Span]:
    """After the first bare `%` a crontab line holds the command's standard input."""
    percent = _FIRST_BARE_PERCENT.search(text)
    if percent is None:
        return
    words = [token.span() for token in _TOKEN.finditer(text, 0, percent.start()) if token["word"] is not None]
    if _reads_secret(text, words):
        yield percent.end(), len(text)
