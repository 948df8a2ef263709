"""Reads a stream of bytes under `VixieRules`: load_user(), load_env() and load_entry() of the family, in one place."""

import functools
import re
from collections.abc import Mapping
from itertools import takewhile
from sys import intern
from typing import NamedTuple

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Context
from cron2queue.crontab.environment import Variables
from cron2queue.crontab.fields import FIELDS, FieldError, FieldValue
from cron2queue.crontab.lines import Assignment, Blank, Comment, Effect, Entry, Kind, Line, Malformed
from cron2queue.crontab.percent import split_percent
from cron2queue.crontab.remedies import MISSING_NEWLINE, remedy_for
from cron2queue.crontab.schedule import AtReboot, Interval, Schedule
from cron2queue.crontab.vixie import Grammar, VixieRules, calendar_of, read_field
from cron2queue.expressions import regex
from cron2queue.text import to_text

# The state machine of load_env() as one expression; blanks as isspace() has them.
_ASSIGNMENT = regex(
    rb"(?:\"(?P<n1>[^\"=]*+)\"|'(?P<n2>[^'=]*+)'|(?P<n3>(?![\"'])[^\s=]*+))\s*+=\s*+"
    rb"(?P<value>\"(?P<v1>[^\"]*+)\"\s*+|'(?P<v2>[^']*+)'\s*+|(?P<v3>[^\s\"'].*+))?+\Z",
    re.DOTALL,
)
_QUOTED = regex(rb"([\"']).*\1\Z", re.DOTALL)
_BLANKS = regex(rb"[ \t]*")
_TOKEN = regex(rb"[^ \t\n]*")
_NICKNAME = regex(rb"[^ \t\n\0]*")
_USER = regex(rb"[^ \t\n\0]*")
_USER_OVER_LINES = regex(rb"[^ \t\0]*")
_TEXT_END = regex(rb"[\n\0]")
_IMPOSSIBLE_USER = regex(rb"[0-9]+\Z|.*[:/*\s\0]|\Z", re.DOTALL)
# Printable bytes only: what else a daemon takes as part of a field is read one by one.
_FIVE_TOKENS = regex(rb"(?:[!-~]+[ \t]+){5}")
_SHARED_TEXT = 96
_SECONDS = regex(rb"0*[1-9][0-9]{0,8}\Z")
# A refused token may leave the rest of its line to be read again: so many pieces of one line are told apart.
_MOST_PIECES = 40


class _Refusal(Exception):
    """The token at `at` is refused; the daemon reads on at `resume`, or at the next line when that is None."""

    def __init__(self, message: str, at: int, resume: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.resume = resume


class _Timing(NamedTuple):
    schedule: Schedule
    tokens: tuple[bytes, ...]
    end: int
    quiet: bool
    warnings: tuple[str, ...] = ()


@functools.lru_cache(maxsize=16384)
def _five_at_once(
    grammar: Grammar, rule: ClockRule, text: bytes, zone: str | None
) -> tuple[Schedule, tuple[bytes, ...], tuple[str, ...]] | None:
    """Five good fields, which repeat within and between crontabs; None as soon as one is bad."""
    tokens = tuple(text.replace(b"\t", b" ").split())
    values = [read_field(grammar, token, spec) for token, spec in zip(tokens, FIELDS, strict=True)]
    accepted = tuple(value for value in values if isinstance(value, FieldValue))
    if len(accepted) < len(FIELDS):
        return None
    stars = tuple(token.startswith(b"*") for token in tokens)
    warnings = tuple(warning for value in accepted for warning in value.warnings)
    return calendar_of(accepted, stars, rule, zone), tokens, warnings


@functools.lru_cache(maxsize=16384)
def _as_text(tokens: tuple[bytes, ...]) -> tuple[str, tuple[str, ...]]:
    """The schedule as text, and its fields; equal ones are one object."""
    text = to_text(b" ".join(tokens))
    return text, tuple(text.split(" "))


class VixieLoader:
    """One reading of one file. `lines` then covers every byte; `silent_end` tells of a lost last line."""

    def __init__(self, data: bytes, context: Context, rules: VixieRules, effect: Effect) -> None:
        self.data = data
        self.context = context
        self.rules = rules
        self.effect = effect
        self.lines: list[Line] = []
        self.warnings: list[str] = []
        self.missing_newline = False
        self.variables = Variables()
        self._environments: dict[str | None, Mapping[str, str]] = {}
        self._position = 0
        self._number = 1
        self._line_start = 0
        self._pieces = 0

    def run(self) -> None:
        """Read to the end."""
        while self._position < len(self.data):
            self._step()

    def _advance(self, end: int) -> bytes:
        """Take the bytes up to `end`; the count of lines follows."""
        raw = self.data[self._position : end]
        newlines = raw.count(b"\n")
        if newlines:
            self._number += newlines
            self._line_start = self._position + raw.rindex(b"\n") + 1
            self._pieces = 0
        self._position = end
        return raw

    def _line_end(self, start: int) -> int:
        newline = self.data.find(b"\n", start)
        return len(self.data) if newline < 0 else newline + 1

    def _step(self) -> None:
        blanks = _BLANKS.match(self.data, self._position)
        begin = blanks.end() if blanks else self._position
        first = self.data[begin : begin + 1]
        number = self._number
        if first in (b"\n", b""):
            self.lines.append(Blank(number=number, raw=self._advance(min(begin + 1, len(self.data)))))
            return
        if first == b"#":
            raw = self._advance(self._line_end(begin))
            text = to_text(raw.lstrip(b" \t")[1:].removesuffix(b"\n"))
            self.lines.append(Comment(number=number, raw=raw, text=text))
            return
        end = _TEXT_END.search(self.data, begin)
        if end is None:
            self._lost_end(begin)
        elif not self._assignment(begin, end.start()):
            self._entry(begin)

    def _lost_end(self, begin: int) -> None:
        """The last line has no newline: no daemon of the family takes it."""
        self.missing_newline = True
        number, column = self._number, begin - self._line_start + 1
        message = self.rules.missing_newline or "missing newline before EOF: the last line is dropped in silence"
        self.lines.append(
            Malformed(
                number=number, raw=self._advance(len(self.data)), column=column, message=message,
                effect=self.effect if self.rules.missing_newline_reaches_as_far else Effect.LINE, remedy=MISSING_NEWLINE,
            )
        )  # fmt: skip

    def _assignment(self, begin: int, end: int) -> bool:
        rules = self.rules
        text = self.data[begin : min(end, begin + rules.longest_read)]
        match = _ASSIGNMENT.match(text)
        if match is None or (match["value"] is None and not rules.empty_value):
            return False
        name = match["n1"] or match["n2"] or match["n3"] or b""
        value = match["v1"] or match["v2"] or match["v3"] or b""
        if rules.trims_inside_quotes or match["v3"] is not None:
            value = value.rstrip(b" \t\n\v\f\r")
        if rules.takes_quotes_twice and _QUOTED.match(value):
            value = value[1:-1]
        number, raw = self._number, self._advance(end + 1)
        if rules.long_assignment_is_lost and len(name) + 1 + len(value) >= rules.longest_read:
            self.lines.append(self._too_long(number, raw))
            return True
        value = value[: max(0, rules.longest_assignment - len(name) - 1)]
        line = Assignment(number=number, raw=raw, name=to_text(name), value=to_text(value))
        self.variables.set(line.name, line.value)
        self._environments = {}
        self.lines.append(line)
        return True

    def _too_long(self, number: int, raw: bytes) -> Malformed:
        return Malformed(
            number=number, raw=raw, column=1, message="assignment too long: lost in silence", effect=Effect.LINE,
            remedy=f"keep the name and the value together below {self.rules.longest_read} bytes",
        )  # fmt: skip

    def _entry(self, begin: int) -> None:
        start, line_start = self._position, self._line_start
        try:
            if self._pieces >= _MOST_PIECES:
                raise _Refusal("bad minute", begin)
            entry, end = self._read_entry(begin)
        except _Refusal as refusal:
            self._refuse(refusal, start, line_start)
            return
        self._advance(end)
        self.lines.append(entry)

    def _refuse(self, refusal: _Refusal, start: int, line_start: int) -> None:
        """The refused bytes as a malformed line, and one for each further line that they swallowed."""
        number, column = self._number, refusal.at - line_start + 1
        resume = self._line_end(max(start, refusal.at)) if refusal.resume is None else refusal.resume
        taken = self._advance(min(max(resume, start + 1), len(self.data)))
        self._pieces = 0 if self._line_start == self._position else self._pieces + 1
        raws = _by_newline(taken)
        for place, raw in enumerate(raws):
            message = refusal.message if place == 0 else f"{refusal.message}: read as part of line {number}"
            self.lines.append(
                Malformed(
                    number=number + place, raw=raw, column=column if place == 0 else 1, message=message,
                    effect=self.effect, remedy=remedy_for(refusal.message),
                )
            )  # fmt: skip

    def _read_entry(self, begin: int) -> tuple[Entry, int]:
        timing = self._timing(begin)
        self.warnings.extend(f"line {self._number}: {each}" for each in timing.warnings)
        user, at = self._user(timing.end)
        at, options = self._options(at)
        end = _TEXT_END.search(self.data, at)
        if end is None:
            raise _Refusal("bad command", at)
        written = self.data[at : end.start()]
        if len(written) > self.rules.longest_command:
            if self.rules.long_command_is_error:
                raise _Refusal("command too long", at)
            written = written[: self.rules.longest_command]
        command, stdin = split_percent(written, collapse=self.rules.collapses_backslashes)
        command_text = intern(to_text(written))  # a fleet holds the same in many files
        schedule_text, fields = _as_text(timing.tokens)
        entry = Entry(
            number=self._number, raw=self.data[self._position : end.end()], schedule=timing.schedule,
            schedule_text=schedule_text, user=user, stdin=stdin,
            command=command_text if command == command_text else command,  # one object: a fleet holds many
            environment=self._environment(user), command_text=command_text,
            command_column=at - self._line_start + 1, quiet=timing.quiet or "-q" in options,
            fields=fields, options=options, nth=self._nth(),
        )  # fmt: skip
        return entry, end.end()

    def _nth(self) -> int:
        """Which entry of its physical line is read now."""
        if self._position == self._line_start:
            return 1
        pieces = takewhile(lambda line: line.number == self._number, reversed(self.lines))
        return next((line.nth + 1 for line in pieces if isinstance(line, Entry)), 1)

    def _timing(self, at: int) -> _Timing:
        quiet = self.rules.dash_prefix and self.data[at : at + 1] == b"-"
        if quiet:
            if self.context.kind is Kind.USER and self.context.user not in (None, "root"):
                raise _Refusal("bad option", at)
            at += 1
        timing = self._nickname(at, quiet) if self.data[at : at + 1] == b"@" else self._five_fields(at, quiet)
        first = self.data[timing.end : timing.end + 1]
        if self.rules.needs_command and first in (b"\n", b""):
            raise _Refusal("bad command", timing.end)
        if first == b"*":
            own = self.context.kind is Kind.USER and self.rules.star_is_no_user_command
            if own or self.rules.star_is_no_command:
                raise _Refusal("bad command", timing.end)
        return timing

    def _skip_blanks(self, at: int) -> int:
        blanks = _BLANKS.match(self.data, at)
        return blanks.end() if blanks else at

    def _nickname(self, at: int, quiet: bool) -> _Timing:
        match = _NICKNAME.match(self.data, at + 1)
        name = match.group() if match else b""
        end = self._skip_blanks(at + 1 + len(name))
        tokens = (b"@" + name,)
        if self.rules.interval_nicknames and (name == b"every_second" or _SECONDS.match(name)):
            return _Timing(Interval(seconds=1 if name == b"every_second" else int(name)), tokens, end, quiet)
        text = self.rules.nicknames.get(name)
        if text is None:
            raise _Refusal("bad time specifier", at)
        if not text:
            return _Timing(AtReboot(), tokens, end, quiet)
        fields = text.split(b" ")
        values = [read_field(self.rules.grammar, field, spec) for field, spec in zip(fields, FIELDS, strict=True)]
        accepted = tuple(value for value in values if isinstance(value, FieldValue))
        return _Timing(self._calendar(accepted, fields), tokens, end, quiet)

    def _zone(self) -> str | None:
        return self.variables.now.get(self.rules.zone_variable) if self.rules.zone_variable else None

    def _calendar(self, values: tuple[FieldValue, ...], fields: list[bytes]) -> Schedule:
        stars = tuple(field.startswith(b"*") for field in fields)
        return calendar_of(values, stars, self.rules.clock_rule, self._zone())

    def _five_fields(self, at: int, quiet: bool) -> _Timing:
        """The fields at once where all are good, else one by one up to the bad one."""
        five = _FIVE_TOKENS.match(self.data, at)
        if five and len(five.group()) <= _SHARED_TEXT:
            known = _five_at_once(self.rules.grammar, self.rules.clock_rule, five.group(), self._zone())
            at_end = five.end()
            if known and not (self.rules.signed_bytes and self.data[at_end : at_end + 1] == b"\xff"):
                return _Timing(known[0], known[1], at_end, quiet, known[2])
        return self._one_by_one(at, quiet)

    def _one_by_one(self, at: int, quiet: bool) -> _Timing:
        values, fields = [], []
        for spec in FIELDS:
            match = _TOKEN.match(self.data, at)
            token = match.group() if match else b""
            value = read_field(self.rules.grammar, token, spec)
            if isinstance(value, FieldError):
                raise _Refusal(f"bad {spec.name}", at + value.at, self._resume(at, token, value))
            begin, at = at, self._skip_blanks(at + len(token))
            if self.rules.signed_bytes and self.data[at : at + 1] == b"\xff":  # read as the end of the file
                raise _Refusal(f"bad {spec.name}", begin, at + 1 if self.rules.rereads_rest else None)
            values.append(value)
            fields.append(token)
        warnings = tuple(warning for value in values for warning in value.warnings)
        return _Timing(self._calendar(tuple(values), fields), tuple(fields), at, quiet, warnings)

    def _resume(self, at: int, token: bytes, error: FieldError) -> int | None:
        """Where the daemon reads on after a bad field: the line after it where it had read the newline as part of that."""
        if self.rules.rereads_rest:
            return min(at + error.consumed, len(self.data))
        end = at + len(token)
        return self._line_end(end + 1) if error.took_separator and self.data[end : end + 1] == b"\n" else None

    def _user(self, at: int) -> tuple[str | None, int]:
        """The user of the entry, and where its command begins."""
        if self.context.kind is Kind.USER:
            return self.context.user, at
        match = (_USER_OVER_LINES if self.rules.user_swallows_newline else _USER).match(self.data, at)
        name = match.group() if match else b""
        end = at + len(name)
        if end >= len(self.data) or self.data[end : end + 1] == b"\n":
            raise _Refusal("bad command", at)
        user = re.split(rb"[:/]", name, maxsplit=1)[0] if self.rules.user_groups else name
        if self._is_unknown(user if not name.startswith((b"/", b":")) else name):
            resume = self._line_end(end) if b"\n" in name and self.rules.rereads_rest else None
            raise _Refusal("bad username", at, resume)
        command = end + 1 if self.rules.blanks_after_user_stay else self._skip_blanks(end)  # a NUL then ends the command
        if self.rules.command_after_user and self.data[command : command + 1] in (b"\n", b""):
            raise _Refusal("bad command", command)
        return intern(to_text(user)), command

    def _is_unknown(self, user: bytes) -> bool:
        """Off the host only a name that no system has is unknown."""
        if self.rules.unknown_user_is_kept:
            return False
        if self.context.users is not None:
            return to_text(user) not in self.context.users
        return _IMPOSSIBLE_USER.match(user) is not None

    def _options(self, at: int) -> tuple[int, tuple[str, ...]]:
        found: list[str] = []
        while self.rules.options and self.data[at : at + 1] == b"-":
            match = self.rules.option_words.match(self.data, at)
            letters = to_text(match["letters"]) if match else ""
            if match is None or (not self.rules.options_repeat and f"-{letters}" in found):
                raise _Refusal(self.rules.bad_option, at)
            found.extend(f"-{letter}" for letter in letters)
            at = match.end()
            if self.rules.needs_command_after_option and self.data[at : at + 1] in (b"\n", b""):
                raise _Refusal("bad command", at)
        return at, tuple(found)

    def _environment(self, user: str | None) -> Mapping[str, str]:
        """The variables in force: the file's, the daemon's defaults below them, what it forces above them."""
        if user not in self._environments:
            defaults = {"SHELL": "/bin/sh"}
            home = self.context.home_of(user)
            if home:
                defaults["HOME"] = home
            if self.rules.default_path:
                defaults["PATH"] = self.rules.default_path
            forced = {} if user is None else {"LOGNAME": user} | ({"USER": user} if self.rules.sets_user else {})
            self._environments[user] = self.variables.in_force(defaults, forced)
        return self._environments[user]


def _by_newline(raw: bytes) -> list[bytes]:
    lines = raw.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
