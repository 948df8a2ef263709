"""Comments that speak to cron2queue: ignores with a reason, and facts that only a person knows.

They stand on their own line above the entry, since a comment at the end of a job line is part of the command for cron::

    # cron2queue: ignore[C2Q301] agreed with operations until=2027-03-01
    # cron2queue: ignore-file[C2Q303] mail is wanted here
    # cron2queue: takes=20m lost-on-failure=yes user-waits=no name=order-export window=01:00-05:30
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import TYPE_CHECKING

from cron2queue.analyser.declarations import Declarations
from cron2queue.expressions import regex
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.crontab.lines import Comment, CrontabFile

_MARK = regex(r"#+\s*cron2queue\s*:\s*", re.IGNORECASE)
_IGNORE = regex(r"ignore(?P<file>-file)?\[(?P<codes>[^\]]*)\]\s*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_CODE = regex(r"C2Q\d{3}")
_UNTIL = regex(r"\buntil=(\S*)")
_PAIR = regex(r"([A-Za-z][A-Za-z-]*)=(\S+)")
_DURATION = regex(r"(?:(\d+(?:\.\d+)?)(ms|s|sec|m|min|h|d)?)")
_UNITS = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, None: 1}
_WINDOW = regex(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
_WHOLE_DAY = (1 << 1440) - 1
_NAME = regex(r"[a-z][a-z0-9-]{0,62}")


class Ignore(Record):
    """One ignore comment. `target` is the line that it is for: None for the whole file, NO_TARGET where nothing follows.

    `trouble` says why it has no effect (no reason, no codes, a date that is none); an expired one has no effect either.
    """

    path: str
    line: int
    codes: frozenset[str]
    reason: str
    until: date | None
    target: int | None
    trouble: str | None = None

    def expired(self, today: date) -> bool:
        """Its last day is over."""
        return self.until is not None and self.until < today


class Remark(Record):
    """Everything that one comment says to cron2queue."""

    line: int
    ignore: Ignore | None = None
    declarations: Declarations | None = None
    unread: tuple[str, ...] = ()


def duration(text: str) -> float | None:
    """Seconds of `90`, `45s`, `20m`, `1h30m`, `2d`; None for anything else."""
    total, at = 0.0, 0
    for part in _DURATION.finditer(text):
        if part.start() != at:
            return None
        total += float(part[1]) * _UNITS[part[2]]
        at = part.end()
    return total if at == len(text) and at > 0 else None


def _yes_no(text: str) -> bool | None:
    return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower())


def _name(text: str) -> str | None:
    return text if _NAME.fullmatch(text) else None


def _window(text: str) -> int | None:
    """The minutes of the day from the first to the last time, both with it; past midnight where the last comes first."""
    times = _WINDOW.fullmatch(text)
    if times is None:
        return None
    first, last = (int(hour) * 60 + int(minute) for hour, minute in (times.group(1, 2), times.group(3, 4)))
    up_to_last, before_first = (1 << last + 1) - 1, (1 << first) - 1
    return up_to_last & ~before_first if first <= last else up_to_last | _WHOLE_DAY & ~before_first


_READERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "takes": ("takes", duration),
    "lost-on-failure": ("lost_on_failure", _yes_no),
    "user-waits": ("user_waits", _yes_no),
    "mostly-empty": ("mostly_empty", _yes_no),
    "overlap-hurts": ("overlap_hurts", _yes_no),
    "name": ("name", _name),
    "window": ("window", _window),
}
DECLARABLE = tuple(_READERS)
NO_TARGET = -1


def _declared(text: str) -> tuple[Declarations | None, tuple[str, ...]]:
    facts: dict[str, object] = {}
    unread: list[str] = []
    for word in text.split():
        pair = _PAIR.fullmatch(word)
        field, reader = _READERS.get(pair[1].lower(), ("", None)) if pair else ("", None)
        value = reader(pair[2]) if pair and reader else None
        if value is None:
            unread.append(word)
        else:
            facts[field] = value
    return (Declarations(**facts) if facts else None), tuple(unread)  # type: ignore[arg-type]


def _ignore(path: str, line: int, target: int | None, match: re.Match[str]) -> Ignore:
    codes = frozenset(part.strip().upper() for part in match["codes"].split(",") if part.strip())
    until_text = _UNTIL.search(match["rest"])
    reason = _UNTIL.sub("", match["rest"]).strip(" -:,")
    until, trouble = None, None
    if until_text:
        try:
            until = date.fromisoformat(until_text[1])
        except ValueError:
            trouble = f"until={until_text[1]} is no date; write until=2027-03-01"
    if not codes or not all(_CODE.fullmatch(code) for code in codes):
        trouble = "it names no rule; write ignore[C2Q301] and the reason"
    elif not any(character.isalnum() for character in reason):
        trouble = "it gives no reason; write why after the bracket"
    return Ignore(
        path=path, line=line, codes=codes, reason=reason, until=until, trouble=trouble, target=None if match["file"] else target
    )


def _remark(file: CrontabFile, comment: Comment, target: int | None) -> Remark | None:
    mark = _MARK.match(comment.text.lstrip() if comment.text.lstrip().startswith("#") else "#" + comment.text)
    if mark is None:
        return None
    text = mark.string[mark.end() :].strip()
    match = _IGNORE.match(text)
    if match:
        wanted = NO_TARGET if target is None else target
        return Remark(line=comment.number, ignore=_ignore(file.path, comment.number, wanted, match))
    declarations, unread = _declared(text)
    return Remark(line=comment.number, declarations=declarations, unread=unread)


def remarks(file: CrontabFile) -> Iterator[tuple[Remark, int | None]]:
    """Each comment that speaks to cron2queue, with the number of the line that it is for (the next that is no comment)."""
    from cron2queue.crontab.lines import Blank, Comment

    waiting: list[Comment] = []
    for line in file.lines:
        if isinstance(line, Comment):
            if "cron2queue" in line.text:
                waiting.append(line)
        elif waiting:
            target = None if isinstance(line, Blank) else line.number
            yield from _with_target(file, waiting, target)
            waiting = []
    yield from _with_target(file, waiting, None)


def _with_target(file: CrontabFile, comments: list[Comment], target: int | None) -> Iterator[tuple[Remark, int | None]]:
    for comment in comments:
        remark = _remark(file, comment, target)
        if remark is not None:
            yield remark, target


def merged(first: Declarations, second: Declarations) -> Declarations:
    """The second's facts over the first's."""
    names = [name for name in Declarations.__slots__ if getattr(second, name) is not None]
    return first.but(**{name: getattr(second, name) for name in names})
