"""The reference of the dialects, made from what each declares and what its docstring says: docs/reference/dialects.md."""

from collections.abc import Iterator

from cron2queue.crontab.clocks import ClockRule
from cron2queue.crontab.dialect import Dialect, dialects
from cron2queue.crontab.lines import Kind

_INTRODUCTION = """# Dialects

How each cron daemon reads its crontab. Made from the declarations in `cron2queue/crontab/dialects/`; each dialect is held
to answers recorded from the daemon itself (`tests/data/cron-truth/`). Choose one with `--dialect NAME`; `auto` takes the
daemon of the host for the host's own crontabs, else what the text points to, else Debian's, and says which and why.

A bad line reaches as far as the daemon lets it. `show --format json` tells it as the line's `effect`: `file` (the daemon
ignores the whole file), `line` (it drops that line), `misread` (it runs the line other than it reads; then the line is an
entry as well, and is counted as one).
"""

_CLOCK = {
    ClockRule.DEBIAN: "any change of the UTC offset: fixed times of a gap up to 3 hours run right after it, one minute after "
    "the other; fixed times of a repeated hour run once; a minute or hour field that begins with * follows the clock",
    ClockRule.VIXIE: "as Debian's, but only changes with tm_isdst are noticed: after another one all runs by the old offset "
    "until the daemon restarts",
    ClockRule.FREEBSD: "a job due in the gap runs once, as much later as the clock jumped; in a repeated hour each waits "
    "until it is due by the old clock",
    ClockRule.WALL: "none: a skipped hour is skipped, a repeated one runs twice",
    ClockRule.SYSTEMD: "a skipped hour is skipped, a repeated one elapses once",
}


def reference() -> str:
    """The whole page."""
    pages = [_INTRODUCTION, _overview(), *(_page(dialect) for dialect in dialects().values())]
    return "\n".join(pages)


def _overview() -> str:
    rows = [
        "## At a glance",
        "",
        "| dialect | one bad line | both day fields | reversed ranges | `%` | zone |",
        "|---|---|---|---|---|---|",
    ]
    for dialect in dialects().values():
        effects = dict.fromkeys(str(dialect.effect(kind)) for kind in Kind)
        zone = ", ".join(dialect.zone_variables) or "-"
        percent = "standard input" if dialect.percent else "plain"
        cells = [f"`{dialect.name}`", " or ".join(effects), dialect.star_rule, dialect.reversed_ranges, percent, zone]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _page(dialect: Dialect) -> str:
    prose = "\n".join(line.strip() for line in (dialect.__doc__ or "").strip().splitlines())
    lines = [f"## {dialect.title} (`{dialect.name}`)", "", prose, "", "| rule | |", "|---|---|"]
    lines.extend(f"| {name} | {text} |" for name, text in _rows(dialect))
    return "\n".join([*lines, ""])


def _rows(dialect: Dialect) -> Iterator[tuple[str, str]]:
    yield "held to", f"{dialect.title} {dialect.version}"
    yield "nicknames", ", ".join(dialect.nicknames)
    yield "star rule", dialect.star_rule
    yield "steps", dialect.steps
    yield "reversed ranges", dialect.reversed_ranges
    yield "random ranges (`~`)", "drawn at each load" if dialect.random_ranges else "no"
    yield "user column", dialect.user_column
    yield "`%`", "the first unescaped one begins the standard input" if dialect.percent else "nothing special"
    yield "environment", dialect.environment
    yield "zone variables", ", ".join(dialect.zone_variables) or "none: CRON_TZ and TZ do not move the schedule"
    yield "clock changes", _CLOCK[dialect.clock_rule]
    yield "limits", dialect.limits
    yield "file names", dialect.names_rule
    yield "owner and mode", dialect.permissions
    yield "reads", ", ".join(f"/{place}" for place in _places(dialect))
    yield "blast radius", dialect.blast_radius
    yield "still running", dialect.overlap


def _places(dialect: Dialect) -> list[str]:
    system = [dialect.system_crontab] if dialect.system_crontab else []
    return [*system, *dialect.system_folders, *dialect.spool]
