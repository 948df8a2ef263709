"""Debian cron 3.0pl1, of Debian, Ubuntu and their derivatives."""

import stat

from cron2queue.crontab.alnum_grammar import AlnumGrammar
from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Context, Dialect, FileFacts, Reading
from cron2queue.crontab.lines import Assignment, Effect, Entry, Line, Malformed
from cron2queue.crontab.vixie import STANDARD_NICKNAMES, VixieRules
from cron2queue.crontab.vixie_loader import VixieLoader
from cron2queue.expressions import regex

_MOST_LINES = 10_003
_NAME = regex(r"[A-Za-z0-9_-]+\Z")
_MISSING_NEWLINE = "Missing newline before EOF, this crontab file will be ignored"
_RULES = VixieRules(
    grammar=AlnumGrammar(longest_word=999, checks_ends=True),
    clock_rule=ClockRule.DEBIAN,
    longest_command=998,
    longest_read=998,
    longest_assignment=998,
    long_command_is_error=True,
    trims_inside_quotes=True,
    takes_quotes_twice=True,
    signed_bytes=True,
    needs_command=False,
    star_is_no_user_command=True,
    user_swallows_newline=True,
    blanks_after_user_stay=True,
    collapses_backslashes=True,
    sets_user=False,
    missing_newline=_MISSING_NEWLINE,
    missing_newline_reaches_as_far=True,
    nicknames=STANDARD_NICKNAMES,
)


class Debian(Dialect):
    """Debian cron 3.0pl1: strict about the file, lenient about the field.

    One bad line, an unknown user or a missing final newline makes it ignore the whole file; junk after a value in a
    field is ignored in silence, and a reversed range is accepted and never fires.
    """

    name = "debian"
    title = "Debian cron"
    version = "3.0pl1-162"
    nicknames = ("@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
    star_rule = "a day field that begins with * asks for both day fields (AND), else either suffices (OR)"
    steps = "after * or a range only; a step beyond the field leaves its first value"
    reversed_ranges = "accepted, never fire (22-4, sat-sun)"
    user_column = "a name known to getpwnam(); no number, no group"
    environment = (
        "any name; NAME= with nothing is no assignment; blanks are trimmed even inside quotes, and a second pair of quotes; "
        "nothing expands"
    )
    clock_rule = ClockRule.DEBIAN
    limits = "command 998 bytes (more: file ignored), assignment 998 bytes as written (cut), 10000 lines"
    names_rule = "only letters, digits, underscore and hyphen"
    permissions = "root's, not writable by group or others, one hard link; user crontabs exactly 0600"
    blast_radius = "one bad line, an unknown user or a missing final newline: the whole file is ignored"
    overlap = "a second copy starts"
    spool = ("var/spool/cron/crontabs",)
    system_effect = Effect.FILE
    user_effect = Effect.FILE

    def read(self, data: bytes, context: Context) -> Reading:
        """Read on after the first fault, so that all are told; the daemon itself stops there."""
        loader = VixieLoader(data, context, _RULES, self.effect(context.kind))
        loader.run()
        lines = tuple(loader.lines)
        why = _why_ignored(lines)
        return Reading(lines, loaded=why is None, why=why, notes=tuple(loader.warnings))

    def ignores_name(self, name: str) -> str | None:
        """valid_name() of Debian's database.c, without -l."""
        return None if _NAME.match(name) else "its name has other characters than letters, digits, _ and -"

    def refuses_system_file(self, facts: FileFacts) -> str | None:
        """process_crontab() of Debian's database.c."""
        if facts.uid != 0 or facts.link_uid != 0:
            return "WRONG FILE OWNER"
        if facts.mode & (stat.S_IWGRP | stat.S_IWOTH):
            return "INSECURE MODE (group/other writable)"
        return "NUMBER OF HARD LINKS > 1" if facts.links != 1 else None

    def refuses_user_file(self, facts: FileFacts, owner: int | None) -> str | None:
        """A spooled crontab: its user's or root's, 0600, no link of either kind."""
        if facts.symlink:
            return "SYMLINK"
        if facts.uid != 0 and owner is not None and facts.uid != owner:
            return "WRONG FILE OWNER"
        if facts.mode & 0o7777 != 0o600:
            return "INSECURE MODE (mode 0600 expected)"
        return "NUMBER OF HARD LINKS > 1" if facts.links != 1 else None


def _why_ignored(lines: tuple[Line, ...]) -> str | None:
    for line in lines:
        if isinstance(line, Malformed):
            if line.message == _MISSING_NEWLINE:
                return _MISSING_NEWLINE
            return f"Syntax error, this crontab file will be ignored (line {line.number}: {line.message})"
        if isinstance(line, Entry | Assignment) and line.number > _MOST_LINES:  # comments after the last one do not count
            return "crontab must not be longer than 10000 lines, this crontab file will be ignored"
    return None
