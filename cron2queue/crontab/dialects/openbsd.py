"""OpenBSD cron."""

import re
import stat

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Context, Dialect, FileFacts, Reading
from cron2queue.crontab.fields import FieldError, FieldSpec, FieldValue, middle_bit, stepped
from cron2queue.crontab.lines import Effect, Kind, Malformed
from cron2queue.crontab.vixie import STANDARD_NICKNAMES, VixieRules
from cron2queue.crontab.vixie_loader import VixieLoader
from cron2queue.expressions import regex

_WORD = rb"[0-9]{1,99}|[A-Za-z]{1,99}"
# What a word may be followed by depends on its place; what follows a star, or a step's end, is skipped.
_STAR = regex(rb"\*(?:/(?P<step>[0-9]{1,99})(?=,|\Z)|(?!/))")
_SPAN = regex(
    rb"(?:(?P<first>" + _WORD + rb")(?=[,\-~]|\Z))?(?:(?P<kind>[\-~])(?P<last>" + _WORD + rb")?(?=[/,]|\Z))?"
    rb"(?:/(?P<step>[0-9]{1,99})(?=,|\Z))?"
)


def _number(word: bytes, spec: FieldSpec) -> int | None:
    if word.isdigit():
        return int(word)
    lowered = word.lower()
    return spec.names.index(lowered) + spec.low if lowered in spec.names else None


def _step_fits(step: int, last: int, spec: FieldSpec) -> bool:
    return 1 <= step <= last + 1 - spec.low


def _span(match: re.Match[bytes], spec: FieldSpec) -> tuple[int, int | None] | None:
    """Bits of a value, a range or a random range, and what a random one may draw."""
    first = spec.low if match["first"] is None else _number(match["first"], spec)
    if match["kind"] is None:
        if match["step"] or match["first"] is None or first is None:
            return None
        bits = stepped(first, first, 1, spec)
        return None if bits is None else (bits, None)
    if match["kind"] == b"-" and (match["first"] is None or match["last"] is None):
        return None
    last = spec.high if match["last"] is None else _number(match["last"], spec)
    if first is None or last is None or first > last:
        return None
    step = int(match["step"]) if match["step"] else 1
    if match["step"] and not _step_fits(step, last, spec):
        return None
    if match["kind"] == b"~":
        return _random(first, last, step, spec)
    bits = stepped(first, last, step, spec)
    return None if bits is None else (bits, None)


def _random(first: int, last: int, step: int, spec: FieldSpec) -> tuple[int, int] | None:
    """LOW~HIGH draws a value, LOW~HIGH/STEP draws the offset of the steps; one load's draw stands in."""
    possible = stepped(max(first, spec.low), min(last, spec.high), 1, spec)
    if not possible:
        return None
    if step == 1:
        return middle_bit(possible), possible
    begin = first + min(step, last - first + 1) // 2
    return stepped(begin, min(last, spec.high), step, spec) or middle_bit(possible), possible


def grammar(token: bytes, spec: FieldSpec) -> FieldValue | FieldError:
    """get_range() of OpenBSD 7: no reversed range, no step beyond the range's end, LOW~HIGH drawn at each load."""
    bits = possible = at = 0
    drawn = False
    while True:
        star = _STAR.match(token, at)
        match = star or _SPAN.match(token, at)
        found: tuple[int, int | None] | None = None
        if star:
            step = int(star["step"]) if star["step"] else 1
            fits = star["step"] is None or _step_fits(step, spec.high, spec)
            steps = stepped(spec.low, spec.high, step, spec) if fits else None
            found = None if steps is None else (steps, None)
        elif match and token[match.end() : match.end() + 1] in (b",", b""):
            found = _span(match, spec)
        if match is None or found is None:
            return FieldError(at + 1, at)
        drawn = drawn or found[1] is not None
        bits, possible = bits | found[0], possible | (found[0] if found[1] is None else found[1])
        at = match.end()
        if token[at : at + 1] != b",":
            return FieldValue(bits, possible if drawn else None)
        at += 1


_RULES = VixieRules(
    grammar=grammar,
    clock_rule=ClockRule.VIXIE,
    longest_command=999,
    longest_read=999,
    longest_assignment=999,
    star_is_no_command=True,
    options="nqs",
    option_words=regex(rb"-(?P<letters>[nqs]+)[ \t]+"),
    options_repeat=True,
    needs_command_after_option=False,
    bad_option="bad flags",
    default_path=None,
    nicknames=STANDARD_NICKNAMES,
)


class OpenBSD(Dialect):
    """OpenBSD cron: refuses reversed ranges and steps beyond the range; one bad line refuses a user's whole crontab."""

    name = "openbsd"
    title = "OpenBSD cron"
    version = "7.8"
    nicknames = ("@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
    star_rule = "a day field that begins with * asks for both day fields (AND), else either suffices (OR)"
    steps = "after *, a range or a random range; never beyond the range"
    reversed_ranges = "refused"
    random_ranges = True
    user_column = "a name known to getpwnam(); a bad one drops that line"
    environment = "any name; NAME= with nothing is no assignment; nothing expands; PATH comes from login.conf"
    clock_rule = ClockRule.VIXIE
    limits = "command and assignment 999 bytes (cut in silence)"
    names_rule = "no cron.d"
    permissions = "/etc/crontab root's, readable by its owner, no other right to run or write; user crontabs exactly 0600"
    blast_radius = "a user crontab with one bad line is refused whole and the old one stays; in /etc/crontab that line"
    overlap = "a second copy starts, unless -s stands before the command"
    system_folders = ()
    spool = ("var/cron/tabs",)
    user_effect = Effect.FILE

    def read(self, data: bytes, context: Context) -> Reading:
        """The last line without a newline is dropped in silence, and harms nothing else."""
        loader = VixieLoader(data, context, _RULES, self.effect(context.kind))
        loader.run()
        lines = tuple(loader.lines)
        bad = [line for line in lines if isinstance(line, Malformed) and line.effect is Effect.FILE]
        why = None
        if bad and context.kind is Kind.USER:
            why = f"line {bad[0].number}: {bad[0].message}: the whole crontab is refused, the one loaded before stays"
        return Reading(lines, loaded=why is None, why=why, notes=tuple(loader.warnings))

    def ignores_name(self, name: str) -> str | None:
        """There are no system folders."""
        return "OpenBSD cron reads no cron.d"

    def refuses_system_file(self, facts: FileFacts) -> str | None:
        """process_crontab() of database.c."""
        if facts.symlink:
            return "NOT REGULAR"
        if facts.uid != 0:
            return "WRONG FILE OWNER"
        return "BAD FILE MODE" if facts.mode & 0o7533 != stat.S_IRUSR else None

    def refuses_user_file(self, facts: FileFacts, owner: int | None) -> str | None:
        """A spooled crontab: exactly 0600, its user's or root's, no link of either kind."""
        if facts.symlink:
            return "NOT REGULAR"
        if facts.uid != 0 and owner is not None and facts.uid != owner:
            return "WRONG FILE OWNER"
        if facts.mode & 0o7777 != 0o600:
            return "BAD FILE MODE"
        return "BAD LINK COUNT" if facts.links != 1 else None
