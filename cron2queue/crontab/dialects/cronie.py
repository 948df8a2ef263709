"""cronie, of Red Hat, Fedora, SUSE, Arch and others."""

import re
import stat

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Context, Dialect, FileFacts, Reading
from cron2queue.crontab.fields import FieldError, FieldSpec, FieldValue, int32, middle_bit, stepped
from cron2queue.crontab.lines import Assignment, Blank, Comment, Entry, Kind, Line, Malformed
from cron2queue.crontab.vixie import STANDARD_NICKNAMES, VixieRules
from cron2queue.crontab.vixie_loader import VixieLoader
from cron2queue.expressions import regex

_MOST_GARBAGE = 32_768
_MOST_ENTRIES = 10_000
_MOST_ASSIGNMENTS = 1_000
_LONGEST_WORD = 131_071
_ITEM = regex(
    rb"(?P<star>\*)(?:/(?P<star_step>[0-9]+))?\Z"
    rb"|(?P<low>[0-9A-Za-z]+)?~(?P<high>[0-9A-Za-z]+)?\Z"
    rb"|(?P<first>[0-9A-Za-z]+)(?:-(?P<last>[0-9A-Za-z]+)(?:/(?P<step>[0-9]+))?)?\Z"
)


def _number(word: bytes, spec: FieldSpec) -> int | None:
    if len(word) > _LONGEST_WORD:
        return None
    if word.isdigit():
        return int32(word)
    lowered = word.lower()
    return spec.names.index(lowered) + spec.low if lowered in spec.names else None


def _random(match: re.Match[bytes], spec: FieldSpec) -> int | None:
    """The values that LOW~HIGH may draw; a draw outside of the field is refused at load time, so it does not count."""
    low = spec.low if match["low"] is None else _number(match["low"], spec)
    high = spec.high if match["high"] is None else _number(match["high"], spec)
    if low is None or high is None or low > high:
        return None
    return stepped(max(low, spec.low), min(high, spec.high), 1, spec) or None


def _is_empty_draw(match: re.Match[bytes], spec: FieldSpec) -> bool:
    """LOW~ above the field's last value: get_range() learns that only behind the separator."""
    low = _number(match["low"], spec) if match["low"] and match["high"] is None else None
    return low is not None and low > spec.high


def _warning(step: int, distance: int) -> tuple[str, ...]:
    if step <= 1 or step <= distance:
        return ()
    return (f"Warning: Step size {step} higher than possible maximum of {max(distance, 1)}",)


def _plain(match: re.Match[bytes], spec: FieldSpec) -> FieldValue | None:
    step_text = match["star_step"] or match["step"]
    step = int32(step_text) if step_text else 1
    first: int | None = spec.low
    last: int | None = spec.high
    if match["first"] is not None:
        first = _number(match["first"], spec)
        last = first if match["last"] is None else _number(match["last"], spec)
    if first is None or last is None or step == 0:
        return None
    bits = stepped(first, last, step, spec)
    return None if bits is None else FieldValue(bits, None, _warning(step, last - first))


def grammar(token: bytes, spec: FieldSpec) -> FieldValue | FieldError:
    """get_range() of cronie 1.7: nothing may follow a value but a comma; LOW~HIGH draws at each load."""
    bits = possible = at = 0
    drawn = False
    warnings: list[str] = []
    for item in token.split(b","):
        match = _ITEM.match(item)
        if match is None:
            return FieldError(at + 1, at)
        value = _plain(match, spec) if match["first"] or match["star"] else None
        draws = _random(match, spec) if not (match["first"] or match["star"]) else None
        if value is None and draws is None:
            return FieldError(at + 1, at, took_separator=at + len(item) == len(token) and _is_empty_draw(match, spec))
        if value is not None:
            bits, possible = bits | value.bits, possible | value.bits
            warnings.extend(value.warnings)
        if draws is not None:
            drawn, bits, possible = True, bits | middle_bit(draws), possible | draws
        at += len(item) + 1
    return FieldValue(bits, possible if drawn else None, tuple(warnings))


_RULES = VixieRules(
    grammar=grammar,
    clock_rule=ClockRule.VIXIE,
    longest_command=131_071,
    longest_read=131_071,
    longest_assignment=131_071,
    empty_value=True,
    command_after_user=True,
    star_is_no_command=True,
    dash_prefix=True,
    option_words=regex(rb"-(?P<letters>n)[ \t]+"),
    options="n",
    unknown_user_is_kept=True,
    zone_variable="CRON_TZ",
    default_path="/usr/bin:/bin:/usr/sbin:/sbin",
    missing_newline="missing newline before EOF",
    nicknames=STANDARD_NICKNAMES,
)


class Cronie(Dialect):
    """cronie 1.7: drops a bad line only, allows nothing after a value, knows CRON_TZ, RANDOM_DELAY and ~."""

    name = "cronie"
    title = "cronie"
    version = "1.7.2"
    nicknames = ("@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
    star_rule = "a day field that begins with * asks for both day fields (AND), else either suffices (OR)"
    steps = "after * or a range only; a step beyond the field leaves its first value, with a warning"
    reversed_ranges = "accepted, never fire (22-4, sat-sun)"
    random_ranges = True
    user_column = "any word; an unknown user is logged each time the entry is due and nothing runs"
    environment = "any name, empty values too; quotes keep blanks; nothing expands"
    zone_variables = ("CRON_TZ",)
    clock_rule = ClockRule.VIXIE
    limits = "command 131071 bytes (cut); user crontabs: 10000 entries, 1000 assignments, 32768 bytes of comments in a row"
    names_rule = "all but those beginning with . or #, ending in ~ .rpmsave .rpmorig .rpmnew, or .cron.hostname"
    permissions = "root's, readable by its owner, not executable, not writable by group or others"
    blast_radius = "one bad line, or a last line without a newline: that line is dropped"
    overlap = "a second copy starts"
    spool = ("var/spool/cron", "var/spool/cron/tabs", "var/spool/cron/crontabs")

    def read(self, data: bytes, context: Context) -> Reading:
        """A user crontab beyond the limits is dropped whole, a system one only stumbles over its comments."""
        loader = VixieLoader(data, context, _RULES, self.effect(context.kind))
        loader.run()
        lines = tuple(loader.lines)
        why = None
        if context.kind is Kind.USER:
            why = _why_dropped(lines)
        else:
            lines = tuple(_stumbled(lines, self))
        notes = [*loader.warnings, *_random_delays(lines)]
        return Reading(lines, loaded=why is None, why=why, notes=tuple(notes), zone=loader.variables.now.get("CRON_TZ"))

    def ignores_name(self, name: str) -> str | None:
        """not_a_crontab() of database.c."""
        if name.startswith((".", "#")):
            return "its name begins with . or #"
        if name.endswith(("~", ".rpmsave", ".rpmorig", ".rpmnew")) or name == ".cron.hostname":
            return "its name marks it as a backup"
        return None

    def refuses_system_file(self, facts: FileFacts) -> str | None:
        """process_crontab() of database.c."""
        if facts.uid != 0:
            return "WRONG FILE OWNER"
        return "BAD FILE MODE" if facts.mode & 0o7533 != stat.S_IRUSR else None

    def refuses_user_file(self, facts: FileFacts, owner: int | None) -> str | None:
        """A spooled crontab: its user's or root's, one hard link, not executable or writable by others."""
        if facts.uid != 0 and owner is not None and facts.uid != owner:
            return "WRONG FILE OWNER"
        if facts.mode & 0o7533 != stat.S_IRUSR:
            return "BAD FILE MODE"
        return "BAD LINK COUNT" if facts.links != 1 else None


def _garbage_limit(lines: tuple[Line, ...]) -> list[int]:
    """Places of the comment lines in which the 32768th byte in a row of comments and blanks falls."""
    found, run = [], 0
    for place, line in enumerate(lines):
        run = run + len(line.raw) if isinstance(line, Comment | Blank) else 0
        if run > _MOST_GARBAGE:
            found.append(place)
            run = 0
    return found


def _is_tried(line: Line) -> bool:
    """A line that crond read as an entry, whether it could or not."""
    return isinstance(line, Entry) or (isinstance(line, Malformed) and line.message != _RULES.missing_newline)


def _why_dropped(lines: tuple[Line, ...]) -> str | None:
    entries = sum(map(_is_tried, lines))
    assignments = sum(isinstance(line, Assignment) for line in lines)
    if _garbage_limit(lines):
        return "FAILED (loading cron table): too many garbage characters"
    if entries > _MOST_ENTRIES:
        return "FAILED (loading cron table): too many entries"
    return "FAILED (loading cron table): too many environment variables" if assignments > _MOST_ASSIGNMENTS else None


def _stumbled(lines: tuple[Line, ...], dialect: Dialect) -> list[Line]:
    """In a system crontab the rest of a comment beyond the limit is read as a line of its own."""
    read = list(lines)
    for place in _garbage_limit(lines):
        line = read[place]
        read[place] = Malformed(
            number=line.number, raw=line.raw, column=1, message="bad minute",
            effect=dialect.effect(Kind.SYSTEM), remedy="keep comments in a row below 32768 bytes",
        )  # fmt: skip
    return read


def _random_delays(lines: tuple[Line, ...]) -> list[str]:
    """What RANDOM_DELAY does to the entries after it."""
    notes = []
    for line in lines:
        if isinstance(line, Assignment) and line.name == "RANDOM_DELAY":
            match = re.match(r"[ \t]*([+-]?[0-9]{1,9})", line.value)
            minutes = int(match[1]) if match else 0
            if not 0 <= minutes <= 1440:
                notes.append(f"line {line.number}: bad value of RANDOM_DELAY: no delay")
            elif minutes:
                notes.append(
                    f"line {line.number}: what follows starts up to {minutes} minutes later, drawn at each start of crond"
                )
    return notes
