"""Being told: a command, a function or a mail when a job dies, a queue is over its limit, or a producer did not come.

    [hooks.page]
    on = ["dead", "over-limit", "missed-tick"]       # without it, all three; "output" mails what jobs print, as cron did
    command = ["/usr/local/bin/page", "--team", "shop"]   # the event as JSON on standard input, no shell
    # or  function = "alerts.py:told"                # called with the event (a dict), in a process of its own
    # or  mail = "ops@example.org"                   # through sendmail, as cron would
    at-most-per-hour = 10
    timeout = 30                                     # seconds; then its whole process group is killed

A hook runs in its own process group with its own time limit, never in the worker; its failure is told and changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cron2queue.errors import UsageError
from cron2queue.runtime.hooks.mail import SENDMAIL, recipients
from cron2queue.runtime.plan_tables import Misplaced, Unfit, read_table, tables_of


class Occasion(StrEnum):
    """What a hook can be told about."""

    DEAD = "dead"
    OVER_LIMIT = "over-limit"
    MISSED_TICK = "missed-tick"
    OUTPUT = "output"


ALARMS = frozenset({Occasion.DEAD, Occasion.OVER_LIMIT, Occasion.MISSED_TICK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing to tell. `count` jobs share it; `jobs` are public ids of some of them; `at` is ISO 8601, UTC.

    `suppressed` events were not told before this one, because the hook had told enough for the hour.
    """

    occasion: Occasion
    subject: str
    text: str
    at: str
    count: int = 1
    jobs: tuple[str, ...] = ()
    queue: str | None = None
    kind: str | None = None
    output: str = ""
    remedy: str = ""
    suppressed: int = 0

    def record(self) -> dict[str, Any]:
        """The event as hooks get it in JSON."""
        return {"schema": 1, **asdict(self), "occasion": str(self.occasion), "jobs": list(self.jobs)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One [hooks.NAME]; exactly one of command, function and mail is set."""

    name: str
    on: frozenset[Occasion] = ALARMS
    command: tuple[str, ...] = ()
    function: str | None = None
    mail: tuple[str, ...] = ()
    sendmail: tuple[str, ...] = SENDMAIL
    at_most_per_hour: int = 10
    timeout: float = 30.0
    folder: Path = Path()


def hooks_from(document: Mapping[str, Any], *, folder: Path) -> tuple[Hook, ...]:
    """The hooks of a parsed plan; relative paths start at `folder`. Raises UsageError that names the key."""
    return tuple(_hook(name, each, folder) for name, each in tables_of(document, "hooks").items())


def _hook(name: str, table: object, folder: Path) -> Hook:
    where = f"hooks.{name}"
    read = read_table(table, where, _READERS)
    if sum(way in read for way in ("command", "function", "mail")) != 1:
        remedy = "leave one of them"
        raise Misplaced(f"[{where}] needs exactly one of command, function and mail", remedy=remedy, table=where)
    return Hook(name=name, folder=folder, **read)


def _occasions(value: object) -> frozenset[Occasion]:
    try:
        return frozenset(Occasion(each) for each in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise Unfit(f"a list out of {', '.join(Occasion)}") from None


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and value and all(isinstance(word, str) and "\0" not in word for word in value):
        return tuple(value)
    raise Unfit('a list of words, like ["/usr/local/bin/page", "--team", "shop"]')


def _function(value: object) -> str:
    path, colon, name = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if not path.endswith(".py") or not name.isidentifier():
        raise Unfit('a file and a function, like "alerts.py:told"')
    return path + colon + name


def _mail(value: object) -> tuple[str, ...]:
    try:
        return recipients(value if isinstance(value, str) else "")
    except UsageError:
        raise Unfit('addresses or user names with commas between, like "ops@example.org"') from None


def _number(least: float, most: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise Unfit(f"a number from {least:g} to {most:g}")
        return float(value)

    return read


def _often(value: object) -> int:
    return int(_number(1, 3600)(value))


_READERS: Mapping[str, Callable[[object], Any]] = {
    "on": _occasions,
    "command": _words,
    "function": _function,
    "mail": _mail,
    "sendmail": _words,
    "at-most-per-hour": _often,
    "timeout": _number(0.1, 3600),
}
