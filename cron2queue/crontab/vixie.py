"""What Debian cron, cronie, FreeBSD and OpenBSD cron, all Paul Vixie's, do differently; and their common star rule."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.fields import FieldError, FieldSpec, FieldValue
from cron2queue.crontab.schedule import Calendar
from cron2queue.expressions import regex
from cron2queue.record import Record

Grammar = Callable[[bytes, FieldSpec], FieldValue | FieldError]

STANDARD_NICKNAMES: Mapping[bytes, bytes] = {
    b"reboot": b"",
    b"yearly": b"0 0 1 1 *",
    b"annually": b"0 0 1 1 *",
    b"monthly": b"0 0 1 * *",
    b"weekly": b"0 0 * * 0",
    b"daily": b"0 0 * * *",
    b"midnight": b"0 0 * * *",
    b"hourly": b"0 * * * *",
}
_SHARED_TOKEN = 64
_NO_OPTIONS = regex(rb"(?P<letters>)(?!)")


class VixieRules(Record):
    """Where the four daemons differ. Sizes are in bytes, and what still fits.

    `longest_read`: what load_env() reads of a line. `takes_quotes_twice`: a pair of quotes inside the quotes around a
    value goes too. `rereads_rest`: after a refused field the rest of the line is read
    as a new line. `user_swallows_newline`: the user's name ends at a blank only. `signed_bytes`: byte 255 ends a field
    as the end of the file would. `option_words`: the options before the command, with their blanks.
    """

    grammar: Grammar
    clock_rule: ClockRule
    longest_command: int
    longest_read: int
    longest_assignment: int
    long_command_is_error: bool = False
    long_assignment_is_lost: bool = False
    empty_value: bool = False
    trims_inside_quotes: bool = False
    takes_quotes_twice: bool = False
    signed_bytes: bool = False
    rereads_rest: bool = False
    needs_command: bool = True
    command_after_user: bool = False
    star_is_no_command: bool = False
    star_is_no_user_command: bool = False
    user_swallows_newline: bool = False
    blanks_after_user_stay: bool = False
    collapses_backslashes: bool = False
    dash_prefix: bool = False
    options: str = ""
    option_words: re.Pattern[bytes] = _NO_OPTIONS
    options_repeat: bool = False
    needs_command_after_option: bool = True
    bad_option: str = "bad option"
    interval_nicknames: bool = False
    user_groups: bool = False
    unknown_user_is_kept: bool = False
    zone_variable: str | None = None
    default_path: str | None = "/usr/bin:/bin"
    sets_user: bool = True
    missing_newline: str | None = None
    missing_newline_reaches_as_far: bool = False
    nicknames: Mapping[bytes, bytes]


@functools.lru_cache(maxsize=8192)
def _shared_field(grammar: Grammar, token: bytes, spec: FieldSpec) -> FieldValue | FieldError:
    return grammar(token, spec)


def read_field(grammar: Grammar, token: bytes, spec: FieldSpec) -> FieldValue | FieldError:
    """The grammar's answer; short tokens, which repeat, are read once."""
    return _shared_field(grammar, token, spec) if len(token) <= _SHARED_TOKEN else grammar(token, spec)


@functools.lru_cache(maxsize=4096)
def calendar_of(values: tuple[FieldValue, ...], stars: tuple[bool, ...], rule: ClockRule, zone: str | None) -> Calendar:
    """The calendar of five accepted fields under the star rule: a day field that begins with * asks for both."""
    minute, hour, day, month, weekday = values
    random = any(value.possible is not None for value in values)
    possible = [value.bits if value.possible is None else value.possible for value in values]
    return Calendar(
        minutes=minute.bits, hours=hour.bits, days=day.bits, months=month.bits, weekdays=_both_sundays(weekday.bits),
        minute_star=stars[0], hour_star=stars[1], day_star=stars[2], weekday_star=stars[4],
        either_day=not (stars[2] or stars[4]), clock_rule=rule, zone=zone, random=random,
        possible=(possible[0], possible[1], possible[2], possible[3], _both_sundays(possible[4])) if random else None,
    )  # fmt: skip


def _both_sundays(weekdays: int) -> int:
    return weekdays | 0x81 if weekdays & 0x81 else weekdays
