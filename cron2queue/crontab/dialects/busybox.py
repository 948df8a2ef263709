"""BusyBox crond, of Alpine, OpenWrt and many containers."""

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Context, Dialect, FileFacts, Reading
from cron2queue.crontab.fields import DAY_NAMES, MONTH_NAMES, int32
from cron2queue.crontab.lines import Assignment, Blank, Comment, Effect, Entry, Line, Malformed
from cron2queue.crontab.schedule import AtReboot, Calendar, Schedule
from cron2queue.expressions import regex
from cron2queue.text import to_text

_MOST_LINES = 255
_MOST_LINES_OF_ROOT = 65_534
_FAILSAFE = 1023
_WORDS = 6
_SHARED = 64
_DIGITS = regex(rb"[0-9]+")
_STRTOL = regex(rb"[ \t\n\v\f\r]*([+-]?)([0-9]+)")
_FIRST_WORD = regex(rb"\A[ \t]*\S+\s*")
_SETTINGS = (b"MAILTO", b"SHELL", b"PATH")
_NICKNAMES: Mapping[bytes, tuple[bytes, ...]] = {
    b"@yearly": (b"0", b"0", b"1", b"1", b"*"),
    b"@annually": (b"0", b"0", b"1", b"1", b"*"),
    b"@monthly": (b"0", b"0", b"1", b"*", b"*"),
    b"@weekly": (b"0", b"0", b"*", b"*", b"0"),
    b"@daily": (b"0", b"0", b"*", b"*", b"*"),
    b"@midnight": (b"0", b"0", b"*", b"*", b"*"),
    b"@hourly": (b"0", b"*", b"*", b"*", b"*"),
    b"@reboot": (),
}
_REMEDY = "write the field so that BusyBox can read it: Sunday is 0, no value beyond the field's last, nothing after a value"
# Seen with busybox-static 1.35 and 1.38; nothing runs from then on, for any user.
_DEADLY = "crashes crond itself in Debian's builds of BusyBox; write the five fields where it may run there"
_TOO_FEW = "ignored in silence: fewer than six words, and not MAILTO=, SHELL= or PATH="


class _Field(NamedTuple):
    """`size` values from 0 on; `offset` is added to numbers, so that bit n-offset is what the crontab calls n."""

    size: int
    offset: int = 0
    names: tuple[bytes, ...] = ()


_MONTH = 3
# The byte before the months is that of the last day of the week (struct CronLine).
_SATURDAY = 1 << 6
_MONTH_0 = regex(rb"(?<![0-9/])0+(?![0-9])")
_FIELDS = (_Field(60), _Field(24), _Field(32), _Field(12, -1, MONTH_NAMES), _Field(7, 0, DAY_NAMES))


@functools.lru_cache(maxsize=8192)
def _fill(first: int, last: int, step: int, size: int) -> tuple[int, bool]:
    """The bits that ParseField() sets from `first` round to `last`, and whether it got there.

    Bit 0 stands for the byte before the field's own, which a month of 0 sets.
    """
    bits, countdown, left, place = 0, 1, _FAILSAFE, first - 1
    while True:
        place = _c_modulo(place + 1, size)
        countdown -= 1
        if countdown == 0:
            if place >= -1:
                bits |= 1 << place + 1
            countdown = step
        if left == 0:
            return bits, False
        left -= 1
        if place == last:
            return bits, True


def _c_modulo(value: int, size: int) -> int:
    return value % size if value >= 0 else -(-value % size)


def _strtol(text: bytes, at: int) -> tuple[int, int]:
    """The number at `at` as a 32-bit integer, and where it ends; 0 and `at` if there is none."""
    match = _STRTOL.match(text, at)
    if match is None:
        return 0, at
    value = int32(match[2])
    return -value if match[1] == b"-" else value, match.end()


def _value(text: bytes, at: int, field: _Field) -> tuple[int, int] | None:
    """A number or a name of three letters, and where it ends."""
    digits = _DIGITS.match(text, at)
    if digits:
        return int32(digits.group()) + field.offset, digits.end()
    name = text[at : at + 3].lower()
    return (field.names.index(name), at + 3) if name in field.names else None


def _item(text: bytes, at: int, field: _Field) -> tuple[int, int, bool]:
    """ParseField() up to a comma or its end: bits, where it stands, and whether it goes on."""
    first = last = -1
    while True:
        step = 1
        if text[at : at + 1] == b"*":
            first, last, at = 0, field.size - 1, at + 1
        elif (value := _value(text, at, field)) is None:
            return 0, at, False
        else:
            first, last = (value[0], last) if first < 0 else (first, value[0])
            at = value[1]
        if text[at : at + 1] != b"-" or last >= 0:
            break
        at += 1
    last = first if last < 0 else last
    if text[at : at + 1] == b"/":
        step, at = _strtol(text, at + 1)
    bits, arrived = _fill(first, last, step, field.size)
    return bits, at, arrived


def _field(text: bytes, field: _Field) -> tuple[int, bool]:
    """The bits of a field and whether it was understood: what was set before an error stays."""
    bits = at = 0
    while True:
        found, at, goes_on = _item(text, at, field)
        bits |= found
        if not goes_on:
            return bits, False
        if text[at : at + 1] != b",":
            return bits, at >= len(text)
        at += 1


_short_field = functools.lru_cache(maxsize=4096)(_field)


def _shared_field(text: bytes, field: _Field) -> tuple[int, bool]:
    return _short_field(text, field) if len(text) <= _SHARED else _field(text, field)


def _calendar(words: tuple[bytes, ...]) -> tuple[Calendar, dict[int, str]]:
    """The schedule of five words, and what is to be said of those that were misread, by their places."""
    read = [_shared_field(word, field) for word, field in zip(words, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = (bits >> 1 for bits, _ in read)
    said = {place: f"parse error at {to_text(words[place])}" for place, (_, understood) in enumerate(read) if not understood}
    weekdays |= _SATURDAY * (read[_MONTH][0] & 1)
    if _MONTH_0.search(words[_MONTH]):
        said.setdefault(_MONTH, "month 0: alone it sets Saturday, before a - it is forgotten")
    day_star, weekday_star = days == (1 << 32) - 1, weekdays == (1 << 7) - 1
    calendar = Calendar(
        minutes=minutes, hours=hours, days=days, months=months << 1, weekdays=weekdays, day_star=day_star,
        weekday_star=weekday_star, either_day=not (day_star or weekday_star), clock_rule=ClockRule.WALL,
    )  # fmt: skip
    return calendar, said


class BusyBox(Dialect):
    """BusyBox crond: runs whatever has six words, whether it understood it or not.

    A value out of range or a 7 in the day of the week fills the whole field: `0 24 * * *` runs every hour and
    `0 3 * * 7` every day; a month 0 sets Saturday, and before a - it is forgotten, so that `0-11` is November. Debian's
    builds of it crash when they read a nickname. Everything from a # on is cut, save behind a nickname, a backslash at the
    end joins the next line, and % is nothing special.
    """

    name = "busybox"
    title = "BusyBox crond"
    version = "1.37"
    nicknames = tuple(to_text(name) for name in _NICKNAMES)
    star_rule = "a day field that names every day (0-31, 0-6) leaves it to the other; else either suffices (OR)"
    steps = "days of the month count from 0: */2 is the even days; N/S is N; a step of 0 leaves the first value"
    reversed_ranges = "wrap around (22-4 is 22,23,0,1,2,3,4)"
    percent = False
    user_column = "none: there are no system crontabs"
    environment = "only MAILTO=, SHELL= and PATH= at the start of a line, up to the first blank; quotes are kept"
    clock_rule = ClockRule.WALL
    limits = "255 lines, root 65534; the rest is ignored"
    names_rule = "the user's name, without a dot"
    permissions = "root's"
    blast_radius = "none: a misread field keeps what was set before the error and the line runs; under six words it is ignored"
    overlap = "skipped while the last run goes on"
    system_crontab = None
    system_folders = ()
    spool = ("var/spool/cron/crontabs",)
    system_effect = Effect.MISREAD
    user_effect = Effect.MISREAD

    def read(self, data: bytes, context: Context) -> Reading:
        """Read by physical lines, joined at backslashes."""
        reader = _Reader(data, context)
        reader.run()
        return Reading(tuple(reader.lines), notes=tuple(reader.notes))

    def ignores_name(self, name: str) -> str | None:
        """rescan_crontab_dir() of crond.c."""
        return "its name has a dot" if "." in name else None

    def refuses_user_file(self, facts: FileFacts, owner: int | None) -> str | None:
        """load_crontab() of crond.c."""
        return "not owned by root" if facts.uid != 0 else None


class _Reader:
    def __init__(self, data: bytes, context: Context) -> None:
        self.data = data
        self.user = context.user
        self.home = context.home_of(context.user)
        self.lines: list[Line] = []
        self.notes: list[str] = []
        self.settings: dict[str, str] = {}
        self.number = 1
        self.left = _MOST_LINES_OF_ROOT if context.user in (None, "root") else _MOST_LINES

    def run(self) -> None:
        position = 0
        while position < len(self.data):
            raw, text = self._joined(position)
            self.lines.append(self._line(raw, text))
            self.number += raw.count(b"\n")
            position += len(raw)

    def _joined(self, position: int) -> tuple[bytes, bytes]:
        """The raw bytes of a line with its continuations, and the text that crond sees of it, up to a NUL."""
        begin, joined = position, bytearray()
        while True:
            newline = self.data.find(b"\n", position)
            end = len(self.data) if newline < 0 else newline
            joined += self.data[position:end]
            position = min(end + 1, len(self.data))
            if not joined.endswith(b"\\"):  # of all so far: an empty line behind two backslashes joins the next one too
                break
            del joined[-1]
            if position >= len(self.data):
                break
        return self.data[begin:position], bytes(joined).split(b"\0", 1)[0]

    def _line(self, raw: bytes, text: bytes) -> Line:
        content = text.lstrip(b" \t")
        if not content:
            return Blank(number=self.number, raw=raw)
        if content.startswith(b"#"):
            return Comment(number=self.number, raw=raw, text=to_text(content[1:]))
        self.left -= 1
        if self.left < 0:
            return self._malformed(raw, 1, "too many lines", Effect.LINE, "split the crontab, or run it as root")
        words = _split(content.partition(b"#")[0])
        for name in _SETTINGS:
            if words and words[0].startswith(name + b"="):
                return self._setting(raw, to_text(name), to_text(words[0][len(name) + 1 :]))
        return self._entry(raw, text, words)

    def _setting(self, raw: bytes, name: str, value: str) -> Assignment:
        if value:
            self.settings[name] = value
        else:
            self.settings.pop(name, None)
        return Assignment(number=self.number, raw=raw, name=name, value=value)

    def _malformed(self, raw: bytes, column: int, message: str, effect: Effect, remedy: str) -> Malformed:
        return Malformed(number=self.number, raw=raw, column=column, message=message, effect=effect, remedy=remedy)

    def _entry(self, raw: bytes, text: bytes, words: list[bytes]) -> Entry | Malformed:
        nickname = words[0].startswith(b"@") if words else False
        needed = 2 if nickname else _WORDS
        if len(words) < needed or (nickname and words[0] not in _NICKNAMES):
            remedy = "give five time fields and a command, or one of the known nicknames and a command"
            return self._malformed(raw, 1, _TOO_FEW, Effect.LINE, remedy)
        fields = (words[0],) if nickname else tuple(words[:5])
        schedule, said = self._schedule(fields)
        if nickname and not self.notes:
            self.notes.append(f"line {self.number}: {to_text(words[0])} {_DEADLY}")
        command = _after_nickname(text) if nickname else _rest(text, len(fields))
        column = text.find(command, _column_after(text, fields)) + 1
        return Entry(
            number=self.number, raw=raw, schedule=schedule, schedule_text=to_text(b" ".join(fields)), user=self.user,
            command=to_text(command), stdin=None, environment=self._environment(), command_text=to_text(command),
            command_column=column, fields=tuple(to_text(field) for field in fields),
            misread=tuple(self._misread(text, fields, place, message) for place, message in sorted(said.items())),
        )  # fmt: skip

    def _schedule(self, fields: tuple[bytes, ...]) -> tuple[Schedule, dict[int, str]]:
        five = _NICKNAMES[fields[0]] if len(fields) == 1 else fields
        return _calendar(five) if five else (AtReboot(), {})

    def _misread(self, text: bytes, fields: tuple[bytes, ...], place: int, message: str) -> Malformed:
        column = _column_after(text, fields[:place])
        column = text.find(fields[place], column) + 1
        return self._malformed(b"", column, message, Effect.MISREAD, _REMEDY)

    def _environment(self) -> Mapping[str, str]:
        known = {"SHELL": "/bin/sh", **({"HOME": self.home} if self.home else {}), **self.settings}
        return known | ({"LOGNAME": self.user, "USER": self.user} if self.user else {})


def _split(text: bytes) -> list[bytes]:
    """At most six words; the last one is the rest, without blanks at its end."""
    return [word for word in re.split(rb"[ \t]+", text.strip(b" \t"), maxsplit=_WORDS - 1) if word]


def _column_after(text: bytes, words: tuple[bytes, ...]) -> int:
    at = 0
    for word in words:
        at = text.find(word, at) + len(word)
    return at


def _after_nickname(text: bytes) -> bytes:
    """What follows the first word, up to the end of the line: crond takes it from the line as it stands, # and all."""
    return _FIRST_WORD.sub(b"", text, count=1)


def _rest(text: bytes, count: int) -> bytes:
    """What follows the first `count` words, up to a #, without blanks around it."""
    before = text.partition(b"#")[0].strip(b" \t")
    return re.split(rb"[ \t]+", before, maxsplit=count)[count]
