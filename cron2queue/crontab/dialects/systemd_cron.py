"""systemd-cron: a generator that turns crontabs into systemd timers at boot."""

import re
from collections.abc import Mapping
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Context, Dialect, Reading
from cron2queue.crontab.environment import Variables
from cron2queue.crontab.fields import DAY_NAMES, MONTH_NAMES, middle_bit
from cron2queue.crontab.lines import Assignment, Blank, Comment, Effect, Entry, Kind, Line, Malformed
from cron2queue.crontab.percent import split_words_at_percent
from cron2queue.crontab.schedule import AtReboot, Calendar, Schedule
from cron2queue.expressions import regex
from cron2queue.text import to_text

_SPACE = b" \t\n\v\f\r"
_ASSIGNMENT = regex(rb"([A-Za-z_0-9]+)[ \t-\r]*=[ \t-\r]*(.*)\Z", re.DOTALL)
_WORD = regex(rb"[^ \t]+")
_NUMBER = regex(rb"\+?[0-9]{1,19}\Z")
_BEGINNING = regex(rb"\s*(\+?[0-9]{1,18})")
_HUGE = 2**63
_UNSIGNED = 2**64
_LOOPS = "the generator never ends: a step of 0"
_UNKNOWN = "unknown schedule"
_LOGGED = {"PERSISTENT", "RANDOM_DELAY", "START_HOURS_RANGE", "DELAY", "BATCH", "CRON_MAIL_SUCCESS", "CRON_MAIL_FORMAT"}
_ALL_MINUTES, _ALL_HOURS, _ALL_DAYS, _ALL_MONTHS, _ALL_WEEKDAYS = (1 << 60) - 1, (1 << 24) - 1, 0xFFFFFFFE, 0x1FFE, 0xFF
_SYNONYMS = {
    "1": "daily", "7": "weekly", "30": "monthly", "31": "monthly", "365": "yearly", "annually": "yearly",
    "anually": "yearly", "biannually": "semi-annually", "bi-annually": "semi-annually",
    "semiannually": "semi-annually", "boot": "reboot",
}  # fmt: skip
# Days, months and days of the week of the named periods; systemd's week begins on Monday.
_PERIODS: Mapping[str, tuple[int, int, int]] = {
    "daily": (_ALL_DAYS, _ALL_MONTHS, _ALL_WEEKDAYS),
    "weekly": (_ALL_DAYS, _ALL_MONTHS, 1 << 1),
    "monthly": (1 << 1, _ALL_MONTHS, _ALL_WEEKDAYS),
    "quarterly": (1 << 1, 1 << 1 | 1 << 4 | 1 << 7 | 1 << 10, _ALL_WEEKDAYS),
    "semi-annually": (1 << 1, 1 << 1 | 1 << 7, _ALL_WEEKDAYS),
    "yearly": (1 << 1, 1 << 1, _ALL_WEEKDAYS),
}


class _Unit(NamedTuple):
    """A field: its name and range in the generator's messages, its first value and how many follow in its table."""

    name: str
    range: str
    base: int
    size: int
    weekday: bool = False
    month: bool = False


_UNITS = (
    _Unit("minute", "[0, 59]", 0, 60),
    _Unit("hour", "[0, 23]", 0, 24),
    _Unit("day", "[1, 31] or 'L'", 1, 31),
    _Unit("month", "[jan, dec] or [1, 12]", 1, 12, month=True),
    _Unit("dow", "[mon, sun] or [1, 7] or [1, 7]L", 0, 8, weekday=True),
)


class _Refusal(Exception):
    """The generator refuses the line in these words; `place` is the word's number."""

    def __init__(self, message: str, place: int = 0, effect: Effect = Effect.LINE) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.effect = effect


def _until_nul(word: bytes) -> bytes:
    """A number and a user are handed on as C strings."""
    return word.partition(b"\0")[0]


def _map(word: bytes, unit: _Unit, *, upper: bool) -> int | None:
    """int_map(), month_map() and dow_map(): names of months are read and then refused all the same."""
    if unit.weekday and word[:3].lower() in DAY_NAMES:
        index = DAY_NAMES.index(word[:3].lower())
        return 7 if upper and index == 0 else index
    return int(_until_nul(word)) if _NUMBER.match(_until_nul(word)) else None


def _item(item: bytes, unit: _Unit) -> tuple[int, bool] | None:
    """parse_period(): the bits of one item and whether they are possible draws; None when it is refused."""
    span, slash, step_text = item.partition(b"/")
    step = 1
    if slash:
        if b"/" in step_text:
            raise _Refusal("doubled /")
        every = _map(step_text, _UNITS[0], upper=False)
        if every is None:
            raise _Refusal("/-skip not an integer")
        step = min(every, _HUGE)
    if span == b"*":
        return _steps(0, unit.size, step, unit), False
    if b"~" in span:
        return _drawn(span, unit)
    low, dash, high = span.partition(b"-")
    if b"-" in high:
        raise _Refusal("doubled -")
    first, last = _map(low, unit, upper=False), _map(high if dash else low, unit, upper=True)
    if first is None or last is None:
        return None
    not_base = 0 if unit.base else 1
    begin, end = first - 1 + not_base, min(last + not_base, unit.size)
    return (_steps(begin, end, step, unit), False) if 0 <= begin < end else None


def _steps(begin: int, end: int, step: int, unit: _Unit) -> int:
    if step == 0:
        raise _Refusal(_LOOPS, effect=Effect.FILE)
    return sum(1 << place + unit.base for place in range(begin, end, step))


def _begun(word: bytes, unit: _Unit, *, upper: bool) -> int:
    """An end of a random range: a name, or the number that the word begins with; 0 when it begins with none.

    One with a - before it is the largest unsigned number.
    """
    known = _map(word, unit, upper=upper)
    if known is not None:
        return known
    number = _BEGINNING.match(word)
    return int(number[1]) if number else -word.startswith(b"-") % _UNSIGNED


def _month(word: bytes, *, after_error: bool) -> int:
    """An end of a random range of months: after an end that is no number, as a name is, no number counts."""
    if word[:3].lower() in MONTH_NAMES:
        return MONTH_NAMES.index(word[:3].lower()) + 1
    return 0 if after_error else _map(word, _UNITS[3], upper=False) or 0


def _ends(low: bytes, high: bytes, unit: _Unit) -> tuple[int, int]:
    if unit.month:
        return _month(low, after_error=False), _month(high, after_error=bool(low) and _map(low, unit, upper=False) is None)
    return _begun(low, unit, upper=False), _begun(high, unit, upper=True)


def _drawn(span: bytes, unit: _Unit) -> tuple[int, bool] | None:
    low, _, high = span.partition(b"~")
    if b"~" in high:
        raise _Refusal("doubled ~")
    not_base, most = 0 if unit.base else 1, unit.size - 1
    first, last = _ends(low, high, unit)
    begin = (first - 1 + not_base) % _UNSIGNED if low else unit.base
    end = min((last + not_base) % _UNSIGNED, most) if high else most
    return (_steps(begin, end + 1, 1, unit), True) if begin <= end else None


def _field(text: bytes, unit: _Unit, place: int) -> tuple[int, int]:
    """Bits of a field (of one draw) and all that it may draw."""
    if text == b"*":
        every = sum(1 << value + unit.base for value in range(unit.size))
        return every, every
    bits = possible = 0
    for item in filter(None, text.split(b",")):
        try:
            found = _item(item, unit)
        except _Refusal as refusal:
            said = refusal.message if refusal.message == _LOOPS else _said(text, item, unit, refusal.message)
            raise _Refusal(said, place, refusal.effect) from None
        if found is None:
            raise _Refusal(_said(text, item.partition(b"/")[0], unit, None), place)
        bits |= middle_bit(found[0]) if found[1] else found[0]
        possible |= found[0]
    if not bits and not unit.weekday:
        raise _Refusal(_said(text, text, unit, None), place)
    return bits, possible


def _said(field: bytes, item: bytes, unit: _Unit, why: str | None) -> str:
    said = f"field {unit.name}={to_text(field)} ({to_text(item)})"
    return f"{said}: {why}" if why else f"{said}, may be * or {unit.range}"


def _both_sundays(bits: int) -> int:
    return bits | 0x81 if bits & 0x81 else bits


def _all_fields(texts: list[bytes]) -> list[tuple[int, int]]:
    """All five are read, the day of the week before the month, whatever is wrong with those before: one may loop."""
    read, refusals = {}, []
    for place in (0, 1, 2, 4, 3):
        try:
            read[place] = _field(texts[place], _UNITS[place], place)
        except _Refusal as refusal:
            refusals.append(refusal)
    if refusals:
        raise next((refusal for refusal in refusals if refusal.effect is Effect.FILE), refusals[0])
    return [read[place] for place in range(len(texts))]


def _calendar(fields: list[bytes], zone: str | None) -> Calendar:
    """Both day fields must hold; `L` is the last day, `5L` the last Friday."""
    days, weekdays = fields[2], fields[4]
    last_day, last_weekday = days == b"L", len(weekdays) == 2 and weekdays.endswith(b"L")
    texts = list(fields)
    if last_day:
        texts[2] = b"1"
    elif last_weekday:
        texts[2], texts[4] = b"1-7", weekdays[:1]
    read = _all_fields(texts)
    minutes, hours, dates, months, week = (bits for bits, _ in read)
    possible = tuple(each for _, each in read)
    random = any(bits != each for bits, each in read)
    return Calendar(
        minutes=minutes, hours=hours, days=dates, months=months, weekdays=_both_sundays(week), minute_star=fields[0] == b"*",
        hour_star=fields[1] == b"*", day_star=days == b"*", weekday_star=weekdays == b"*", clock_rule=ClockRule.SYSTEMD,
        zone=zone, random=random, days_from_end=last_day or last_weekday,
        possible=(possible[0], possible[1], possible[2], possible[3], _both_sundays(possible[4])) if random else None,
    )  # fmt: skip


def _period(word: bytes, settings: Mapping[str, str], zone: str | None) -> Schedule:
    """generate_schedule_from_period(): any case, many names, days as a number."""
    name = to_text(word).lstrip("@").lower()
    name = _SYNONYMS.get(name, name)
    if name == "reboot":
        return AtReboot()
    hour, minute = _start_hour(settings), _small(settings.get("DELAY", "0"), 59)
    days, months, weekdays, hours, minutes = _ALL_DAYS, _ALL_MONTHS, _ALL_WEEKDAYS, 1 << hour, 1 << minute
    if name == "minutely":
        hours, minutes = _ALL_HOURS, _ALL_MINUTES
    elif name == "hourly":
        hours = _ALL_HOURS
    elif name == "midnight":
        hours = 1
    elif name in _PERIODS:
        days, months, weekdays = _PERIODS[name]
    elif _NUMBER.match(name.encode("ascii", "replace")) and 0 < int(name) <= 31:
        days = sum(1 << day for day in range(1, 32, int(name)))
    elif _NUMBER.match(name.encode("ascii", "replace")) and int(name) > 31:
        days, months = 1 << 1, sum(1 << month for month in range(1, 13, min(round(int(name) / 30), 12)))
    else:
        raise _Refusal(_UNKNOWN)
    return Calendar(
        minutes=minutes, hours=hours, days=days, months=months, weekdays=weekdays, zone=zone,
        day_star=days == _ALL_DAYS, weekday_star=weekdays == _ALL_WEEKDAYS, hour_star=hours == _ALL_HOURS,
        minute_star=minutes == _ALL_MINUTES, clock_rule=ClockRule.SYSTEMD,
    )  # fmt: skip


def _small(text: str, most: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 and int(text) <= most else 0


def _start_hour(settings: Mapping[str, str]) -> int:
    return _small(settings.get("START_HOURS_RANGE", "").partition("-")[0], 23)


class SystemdCron(Dialect):
    """systemd-cron: writes a timer for each line; both day fields must hold, and both TZ and CRON_TZ set its zone.

    Names of months are refused; a single `sun` names the whole week; a step of 0 keeps its generator, and with it the
    boot, from ever ending. A backslash right before a % escapes it, whatever stands before that. Release 1.15, as in
    Debian 12, hands a % to the shell like any other sign, heeds neither variable for the zone, and reads no crontab behind
    one in which a byte is no UTF-8.
    """

    name = "systemd-cron"
    title = "systemd-cron"
    version = "2.8.2"
    nicknames = (
        "@reboot", "@minutely", "@hourly", "@midnight", "@daily", "@weekly (Monday)", "@monthly", "@quarterly",
        "@semi-annually", "@yearly", "@N (days)", "in any case",
    )  # fmt: skip
    star_rule = "both day fields must hold (AND), whatever they are"
    steps = "after *, a range or a number (N/S is N); a step of 0 makes the generator loop for ever"
    reversed_ranges = "refused"
    random_ranges = True
    user_column = "any word; with an unknown user the unit fails"
    environment = "names of letters, digits and _; quotes and blanks around the value are stripped"
    zone_variables = ("CRON_TZ", "TZ")
    clock_rule = ClockRule.SYSTEMD
    limits = "none"
    names_rule = "all but those beginning with ., with ~, .dpkg- or .rpm in them, and 0anacron"
    permissions = "not checked"
    blast_radius = "one bad line: that line; a step of 0: everything"
    overlap = "skipped while the last run goes on (one unit an entry)"
    spool = ("var/spool/cron/crontabs", "var/spool/cron")

    def read(self, data: bytes, context: Context) -> Reading:
        """Line by line, blanks around it stripped."""
        reader = _Reader(context)
        parts = data.split(b"\n")
        raws = [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
        lines = tuple(reader.line(number, raw) for number, raw in enumerate(raws, start=1))
        stuck = next((line for line in lines if isinstance(line, Malformed) and line.effect is Effect.FILE), None)
        why = None if stuck is None else f"line {stuck.number}: {stuck.message}"
        return Reading(lines, loaded=stuck is None, why=why, notes=tuple(reader.notes), zone=reader.zone)

    def ignores_name(self, name: str) -> str | None:
        """is_backup() of the generator."""
        if name.startswith(".") or name == "0anacron" or any(part in name for part in ("~", ".dpkg-", ".rpm")):
            return "its name marks it as a backup"
        return None


class _Reader:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.settings: dict[str, str] = {}
        self.variables = Variables()
        self.notes: list[str] = []
        self.zone: str | None = None

    def line(self, number: int, raw: bytes) -> Line:
        content = raw.lstrip(_SPACE)
        if not content:
            return Blank(number=number, raw=raw)
        if content.startswith(b"#"):
            return Comment(number=number, raw=raw, text=to_text(content[1:].removesuffix(b"\n")))
        text = content.rstrip(_SPACE)
        assignment = _ASSIGNMENT.match(text)
        if assignment:
            return self._assigned(number, raw, to_text(assignment[1]), assignment[2])
        begin = len(raw) - len(content)
        try:
            return self._entry(number, raw, text, begin)
        except _Refusal as refusal:
            words = list(_WORD.finditer(text))
            place = words[min(refusal.place, len(words) - 1)].start()
            remedy = "write the line as crontab(5) of systemd-cron has it, or turn it into a comment"
            return Malformed(
                number=number, raw=raw, column=begin + place + 1, message=refusal.message, effect=refusal.effect, remedy=remedy
            )

    def _assigned(self, number: int, raw: bytes, name: str, value: bytes) -> Assignment:
        for quote in (b"'", b'"', b" "):
            value = value.strip(quote)
        text = to_text(value)
        if name in _LOGGED:
            self.settings[name] = text
        else:
            self.variables.set(name, text)
        if name in ("TZ", "CRON_TZ"):
            self.zone = self._known_zone(text)
        if name == "RANDOM_DELAY" and _small(text, 9999):
            self.notes.append(f"line {number}: what follows starts up to {_small(text, 9999)} minutes later, drawn each time")
        return Assignment(number=number, raw=raw, name=name, value=text)

    def _known_zone(self, text: str) -> str | None:
        """An unknown zone leaves the one before, an empty one none."""
        name = text.removeprefix(":")
        if not name:
            return None
        try:
            ZoneInfo(name)
        except (ValueError, OSError, LookupError):
            return self.zone
        return name

    def _entry(self, number: int, raw: bytes, text: bytes, begin: int) -> Entry:
        words = list(_WORD.finditer(text))
        system = self.context.kind is Kind.SYSTEM
        count = 1 if text.startswith(b"@") else 5
        needed = count + 1 + system
        if len(words) < needed:
            timing = "@timespec" if count == 1 else "minute hour day dow month"
            shape = f"{timing}{' user' if system else ''} program"
            raise _Refusal(f"have {len(words)} field{'s'[: len(words) != 1]}, need ≥{needed} ({shape})")
        fields = [match.group() for match in words[:count]]
        schedule = _period(fields[0], self.settings, self.zone) if count == 1 else _calendar(fields, self.zone)
        user = to_text(_until_nul(words[count].group())) if system else self.context.user
        at = words[count + system].start()
        command, stdin = split_words_at_percent(text[at:])
        return Entry(
            number=number, raw=raw, schedule=schedule, schedule_text=to_text(b" ".join(fields)), user=user, command=command,
            stdin=stdin, environment=self._in_force(user), command_text=to_text(text[at:]),
            command_column=begin + at + 1, fields=tuple(to_text(field) for field in fields),
        )  # fmt: skip

    def _in_force(self, user: str | None) -> Mapping[str, str]:
        home = self.context.home_of(user)
        known = {"SHELL": "/bin/sh", **({"HOME": home} if home else {})} | ({"LOGNAME": user, "USER": user} if user else {})
        return self.variables.in_force(known, {})
