"""The percent sign in a command: the first one that is not escaped begins the standard input."""

from cron2queue.expressions import regex
from cron2queue.text import to_text

_BARE_PERCENT = regex(rb"(?<!\\)%")
_WORD = regex(rb"[^ \t]+")
_PERCENT = regex(rb"(?P<escaped>\\)?%")


def _command_end(command: bytes, collapse: bool) -> tuple[bytes, int | None]:
    """The unescaped command, and where the input begins (None: there is no percent sign that splits)."""
    special = b"%\\" if collapse else b"%"
    taken = bytearray()
    escaped = False
    for position, code in enumerate(command):
        if escaped:
            if code in special:
                taken[-1] = code
            else:
                taken.append(code)
            escaped = False
        elif code == 0x25:
            return bytes(taken), position + 1
        else:
            taken.append(code)
            escaped = code == 0x5C
    return bytes(taken), None


def _standard_input(text: bytes) -> bytes:
    """An escaped percent sign is one, another one is a newline, other escapes stay; a final newline is added.

    For that the daemons look at the last character that is no backslash, and add none where there is no such character.
    """
    if not text:
        return b""
    read = _PERCENT.sub(lambda match: b"%" if match["escaped"] else b"\n", text)
    return read + b"\n" if read.rstrip(b"\\")[-1:] not in (b"", b"\n") else read


def split_percent(command: bytes, *, collapse: bool) -> tuple[str, str | None]:
    """What the shell gets and what it reads (None when nothing is given).

    `collapse`: two backslashes before the split become one (Debian and FreeBSD, undocumented; not cronie, OpenBSD).
    """
    if b"%" not in command and not (collapse and b"\\\\" in command):
        return to_text(command), None
    taken, begin = _command_end(command, collapse)
    return to_text(taken), None if begin is None else to_text(_standard_input(command[begin:]))


def split_words_at_percent(command: bytes) -> tuple[str, str | None]:
    """The same of systemd-cron: the words of the command with one blank each, and the input as it stands, no newline added.

    A % is escaped by the backslash right before it, whatever stands before that.
    """
    bare = _BARE_PERCENT.search(command)
    words, given = (command[: bare.start()], command[bare.end() :]) if bare else (command, b"")
    shown = b" ".join(_WORD.findall(words)).replace(b"\\%", b"%")
    return to_text(shown), to_text(_BARE_PERCENT.sub(b"\n", given).replace(b"\\%", b"%")) if bare else None
