"""The one place where foreign text becomes part of a program: one quoting function for each target language.

Every function either returns text that its language reads back as exactly the given value, or raises `NotWritable`.
Nothing else in the project may build a word, a string literal or a crontab command out of foreign text.
"""

import json
import re

from cron2queue.errors import UsageError
from cron2queue.redaction import redact
from cron2queue.text import safe_text

# Debian's MAX_COMMAND is 1000 with the closing NUL; the last byte that it keeps is the 998th. Longer ones cost the whole file.
LONGEST_CRON_COMMAND = 998

_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:,=@+-]+\Z")
_UNIT_PLAIN = re.compile(r"[A-Za-z0-9_./:,=@+-]+\Z")


SCRIPT = "put the command into a script of its own, and start that"


class NotWritable(UsageError):
    """A text cannot be written in the target language without changing its meaning."""

    def __init__(self, message: str, remedy: str = SCRIPT) -> None:
        super().__init__(message, remedy=remedy)


def _printable(text: str, target: str) -> str:
    found = _CONTROL.search(text)
    if found:
        raise NotWritable(f"a control character (0x{ord(found.group()):02x}) cannot be written in {target}")
    return text


def _without_nul(text: str, target: str) -> str:
    if "\0" in text:
        raise NotWritable(f"a NUL byte cannot be written in {target}")
    return text


def _unicode(text: str, target: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotWritable(f"bytes that are not UTF-8 cannot be written in {target}") from None
    return text


def sh(word: str) -> str:
    """One word of a POSIX shell command. Plain words stay as they are, all else goes between single quotes."""
    _without_nul(word, "a shell command")
    if _PLAIN_WORD.match(word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def sh_words(*words: str) -> str:
    """A simple shell command out of its words."""
    return " ".join(sh(word) for word in words)


def _cron_input(stdin: str) -> str:
    """The input part of a command field; cron itself adds the line break at the end."""
    lines = stdin.removesuffix("\n").split("\n")
    if stdin == "\n" or lines[-1] == "" != stdin:
        lines.append("")
    return "%" + "%".join(_printable(line, "a crontab").replace("%", "\\%") for line in lines)


def cron_command(command: str, stdin: str | None = None, *, percent: bool = True, doubled: bool = False) -> str:
    """The command field of a crontab line, which cron hands to the shell as `command`, with `stdin` as its input.

    `percent`: this cron gives `%` a meaning, so it is escaped, inside and outside of quotes (crontab(5)). `doubled`: this
    cron takes two backslashes for one. No one form fits every command and every cron, so that whoever writes a line has
    to read it back.
    """
    text = _printable(command, "a crontab")
    if percent:
        text = (text.replace("\\", "\\\\") if doubled else text).replace("%", "\\%")
    if stdin is not None:
        if not percent:
            raise NotWritable("this cron cannot give a command its input")
        text += _cron_input(stdin)
    if len(text.encode("utf-8", "surrogateescape")) > LONGEST_CRON_COMMAND:
        raise NotWritable(f"a crontab command of more than {LONGEST_CRON_COMMAND} bytes makes cron drop the whole file")
    return text


def php(text: str) -> str:
    """A PHP string literal."""
    return "'" + _without_nul(text, "a PHP script").replace("\\", "\\\\").replace("'", "\\'") + "'"


def js(text: str) -> str:
    """A JavaScript string literal, in ASCII."""
    return json.dumps(_without_nul(_unicode(text, "JavaScript"), "JavaScript"))


def python(value: object) -> str:
    """A Python literal of a string, number, None, list, tuple or dictionary of such, in ASCII."""
    return ascii(value)


def _unit_escaped(text: str) -> str:
    escaped = _printable(text, "a systemd unit").replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return escaped.replace("%", "%%")


def unit_word(word: str) -> str:
    """One argument of ExecStart= (systemd.service(5), "COMMAND LINES"): specifiers, variables and escapes switched off."""
    _unicode(word, "a systemd unit")
    if _UNIT_PLAIN.match(word):
        return word
    return '"' + _unit_escaped(word).replace("$", "$$") + '"'


def unit_program(path: str) -> str:
    """The first word of ExecStart=: an absolute path, so that no prefix character (`@ - : + !`) can stand before it."""
    if not path.startswith("/") or not _UNIT_PLAIN.match(path):
        raise NotWritable(f"{path[:80]!r} is not a plain absolute path, as a systemd unit needs it", "write it as one")
    return path


def unit_assignment(name: str, value: str) -> str:
    """One assignment of Environment= (systemd.exec(5)); `$` has no meaning there, specifiers have."""
    if not re.match(r"[A-Za-z_][A-Za-z0-9_]*\Z", name):
        remedy = "rename it, or set it in a script of its own"
        raise NotWritable(f"{name[:40]!r} is not a name that systemd takes for an environment variable", remedy)
    return f'"{name}={_unit_escaped(_unicode(value, "a systemd unit"))}"'


def unit_text(text: str) -> str:
    """The value of a free-text or C-escaped setting such as Description= or one line of StandardInputText=."""
    lines = [_unit_escaped(line).replace('\\"', '"') for line in _unicode(text, "a systemd unit").split("\n")]
    return "\\n".join(lines)


def comment(text: str) -> str:
    """One line of a comment in any language that ends comments at a line break; never holds `*/`, `?>` or `-->`."""
    shown = re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", "?", text)
    for mark in ("*/", "?>", "-->"):
        shown = shown.replace(mark, mark[0] + " " + mark[1:])
    return shown


def markdown_code(text: str) -> str:
    """Foreign text as a Markdown code span, which no backtick and no table's bar can end; secrets are masked."""
    shown = safe_text(redact(text)) or " "
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


def markdown(text: str) -> str:
    """Foreign text as plain Markdown: nothing in it is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#!|~&])", r"\\\1", safe_text(redact(text)))
