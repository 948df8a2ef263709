"""A test in front of the work that asks whether there is any: `[ -s /var/spool/queue ] && php send.php`.

It shows that whoever wrote the line expected runs that do nothing; how many there are, it does not tell. Tests for what is
installed, for locks and for maintenance are none: those say nothing of the work.
"""

from functools import lru_cache

from cron2queue.analyser.commands import SimpleCommand, read_command
from cron2queue.expressions import regex

_BEFORE = frozenset({"cd", "umask", "export", "set", ".", "source", "sleep", "ulimit", ":"})
_LEAVES = frozenset({"exit", "return", "true", ":"})
_INSTALLED = regex(r"/(?:usr|opt|bin|sbin|lib|etc|run/systemd|sys|proc)/")
_WORTH = regex(r"\btest\b|\[")


@lru_cache(maxsize=1024)
def asks_for_work(command: str) -> str | None:
    """The test that lets the work begin where there is some, or None."""
    if not _WORTH.search(command):
        return None
    commands = [each for each in read_command(command).top if each.texts]
    while commands and commands[0].texts[0] in _BEFORE and commands[0].after in ("&&", ";"):
        del commands[0]
    if len(commands) < 2 or commands[0].texts[0] not in ("test", "[", "[["):
        return None
    first, rest = commands[0], commands[1:]
    head = command[: first.words[0].start].split()
    words = [word for word in first.texts[1:] if word not in ("]", "]]")]
    negated = (head[-1:] == ["!"]) is not (words[:1] == ["!"])
    works = _works_if_true(first, rest[0], is_if="if" in head[-2:])
    if works is None or works is negated or not _is_of_work(words[words[:1] == ["!"] :], rest):
        return None
    return command[first.words[0].start : first.end].strip()


def _works_if_true(test: SimpleCommand, then: SimpleCommand, *, is_if: bool) -> bool | None:
    """Whether the work is done when the test holds; None where it is no condition of the work."""
    leaves = then.texts[0] in _LEAVES
    if test.after == "&&" or (test.after == ";" and is_if):
        return not leaves
    return leaves if test.after == "||" else None


def _is_of_work(words: list[str], rest: list[SimpleCommand]) -> bool:
    """Whether a file or the output of a command is asked for that can be the work itself."""
    operator, operand = (words[0], words[1]) if len(words) == 2 else ("-n", words[0]) if len(words) == 1 else ("", "")
    if operator == "-n":
        return "$(" in operand or "`" in operand
    if operator not in ("-s", "-e", "-f"):
        return False
    return not _INSTALLED.match(operand) and not any(each.texts[0] == operand for each in rest)
