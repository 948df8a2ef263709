"""FreeBSD cron."""

from cron2queue.crontab.alnum_grammar import AlnumGrammar
from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Context, Dialect, FileFacts, Reading
from cron2queue.crontab.vixie import STANDARD_NICKNAMES, VixieRules
from cron2queue.crontab.vixie_loader import VixieLoader
from cron2queue.expressions import regex

_RULES = VixieRules(
    grammar=AlnumGrammar(longest_word=99, open_steps=True),
    clock_rule=ClockRule.FREEBSD,
    longest_command=999,
    longest_read=999,
    longest_assignment=999,
    long_assignment_is_lost=True,
    signed_bytes=True,
    rereads_rest=True,
    needs_command=False,
    user_swallows_newline=True,
    blanks_after_user_stay=True,
    collapses_backslashes=True,
    options="nq",
    option_words=regex(rb"-(?P<letters>[nq])[ \t]+"),
    interval_nicknames=True,
    user_groups=True,
    nicknames={**STANDARD_NICKNAMES, b"every_minute": b"* * * * *"},
)


class FreeBSD(Dialect):
    """FreeBSD cron with -s: drops a bad token only, and reads the rest of its line as a new line.

    So `-* * * * * job` is logged as an error and runs every minute, and `60 5 4 3 2 1 job` runs at 5 4 3 2 1.
    """

    name = "freebsd"
    title = "FreeBSD cron"
    version = "12.1 with -s"
    nicknames = (
        "@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly",
        "@every_minute", "@every_second", "@N (seconds after the last run ended)",
    )  # fmt: skip
    star_rule = "a day field that begins with * asks for both day fields (AND), else either suffices (OR)"
    steps = "after *, a range or a number: N/S is N-last/S; a step beyond the field leaves its first value"
    reversed_ranges = "accepted, never fire (22-4, sat-sun)"
    user_column = "name[:group][/login-class], the name known to getpwnam()"
    environment = "any name; NAME= with nothing is no assignment; quotes keep blanks; nothing expands"
    clock_rule = ClockRule.FREEBSD
    limits = "command 999 bytes (cut in silence), assignment 998 bytes (lost in silence)"
    names_rule = "all but those beginning with ."
    permissions = "a regular file; user crontabs their user's or root's"
    blast_radius = "one bad line: that line, but the unread rest of it is read as a new line; a last line without a newline"
    overlap = "a second copy starts"
    system_folders = ("etc/cron.d", "usr/local/etc/cron.d")
    spool = ("var/cron/tabs",)

    def read(self, data: bytes, context: Context) -> Reading:
        """Read with the rest of refused lines, as the daemon does."""
        loader = VixieLoader(data, context, _RULES, self.effect(context.kind))
        loader.run()
        return Reading(tuple(loader.lines), notes=tuple(loader.warnings))

    def ignores_name(self, name: str) -> str | None:
        """load_sys_dir() of database.c."""
        return "its name begins with ." if name.startswith(".") else None

    def refuses_user_file(self, facts: FileFacts, owner: int | None) -> str | None:
        """process_crontab() of database.c."""
        return "WRONG FILE OWNER" if facts.uid != 0 and owner is not None and facts.uid != owner else None
