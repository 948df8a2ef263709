"""The wrapped form of a command: `cron2queue observe --shell 'COMMAND'`, made and undone.

The words between the quotes stay as they stand in the crontab: percent signs keep their backslash, so that cron cuts
standard input off where it did before.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cron2queue.crontab.lines import CrontabFile, Entry, EntryPlace, Line, place_of
from cron2queue.text import to_bytes

WRAPPER = "cron2queue observe"
_WRAPPED = re.compile(
    r"\A(?:\S{0,200}/)?(?:cron2queue observe|python[\d.]{0,5} -m cron2queue\.evidence\.recorder)"
    r"(?: --(?:observations|entry|nothing-to-do)[= ](?:'[^']{0,4000}'|[^\s']{1,4000})){0,20} --shell '(?P<inner>.*)'\s*",
    re.DOTALL,
)
_LONGEST_COMMAND = 998  # bytes; Debian drops the whole file for one command above it


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """The crontab with every entry wrapped, and the entries that could not be, with the reason."""

    data: bytes
    left: tuple[str, ...]


def unwrapped(command: str) -> str | None:
    """The command inside, or None when this is no wrapped command."""
    found = _WRAPPED.fullmatch(command)
    return None if found is None else found["inner"].replace("'\\''", "'")


def _nothing(entry: Entry) -> str:
    return ""


def wrap(
    file: CrontabFile,
    ids: Mapping[EntryPlace, str],
    *,
    wrapper: str = WRAPPER,
    obstacle: Callable[[Entry], str] = _nothing,
) -> Wrapped:
    """Every entry wrapped; all other bytes stay as they are, and so does an entry that is wrapped already.

    `obstacle` says why an entry could not run wrapped, or nothing; that entry stays as it is too.
    """
    left: list[str] = []
    parts = []
    for line in file.lines:
        why = obstacle(line) if isinstance(line, Entry) and unwrapped(line.command) is None else ""
        if why:
            left.append(f"{file.path}:{line.number}: {why}")
        parts.append(line.raw if why else _line(line, file, ids, wrapper, left))
    return Wrapped(data=b"".join(parts), left=tuple(left))


def _line(line: Line, file: CrontabFile, ids: Mapping[EntryPlace, str], wrapper: str, left: list[str]) -> bytes:
    if not isinstance(line, Entry):
        return line.raw
    if unwrapped(line.command) is not None:
        return line.raw
    written = to_bytes(line.command_text)
    start = line.raw.rfind(written)
    rest = line.raw[start + len(written) :]
    if not written.strip() or start < 0 or rest.strip():
        left.append(f"{file.path}:{line.number}: the command does not stand in the line as one piece")
        return line.raw
    words = f"{wrapper} --entry={ids[place_of(file.path, line)]}".encode()
    new = wrapped_command(written, words, percent=line.stdin is not None)
    if len(new) > _LONGEST_COMMAND:
        left.append(f"{file.path}:{line.number}: it would be longer than {_LONGEST_COMMAND} bytes, which Debian's cron refuses")
        return line.raw
    return line.raw[:start] + new + rest


def wrapped_command(written: bytes, wrapper: bytes, *, percent: bool) -> bytes:
    """A command as it stands in a crontab, wrapped; `percent`: the daemon cuts it at the first unescaped percent sign."""
    cut = _first_percent(written) if percent else len(written)
    inner = written[:cut].replace(b"'", b"'\\''")
    return wrapper + b" --shell '" + inner + b"'" + written[cut:]


def _first_percent(written: bytes) -> int:
    """Where standard input begins: the first percent sign that no backslash stands before."""
    position = 0
    while position < len(written):
        if written[position : position + 1] == b"\\":
            position += 2
            continue
        if written[position : position + 1] == b"%":
            return position
        position += 1
    return len(written)
