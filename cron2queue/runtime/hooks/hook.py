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

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cron2queue.errors import UsageError
from cron2queue.runtime.hooks.mail import SENDMAIL, recipients


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


_KEYS = ("on", "command", "function", "mail", "sendmail", "at-most-per-hour", "timeout")


def hooks_from(document: Mapping[str, Any], *, folder: Path) -> tuple[Hook, ...]:
    """The hooks of a parsed plan; relative paths start at `folder`. Raises UsageError that names the key."""
    table = document.get("hooks", {})
    if not isinstance(table, dict) or not all(isinstance(each, dict) for each in table.values()):
        raise UsageError("[hooks] must hold one table a name")
    return tuple(_hook(name, each, folder) for name, each in table.items())


def _hook(name: str, table: Mapping[str, object], folder: Path) -> Hook:
    where = f"hooks.{name}"
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"unknown key {key!r} in [{where}]", remedy=f"known are {', '.join(_KEYS)}")
    if sum(key in table for key in ("command", "function", "mail")) != 1:
        raise UsageError(f"[{where}] needs exactly one of command, function and mail")
    return Hook(
        name=name,
        on=_occasions(table.get("on"), where),
        command=_words(table.get("command", []), f"{where}.command"),
        function=_function(table.get("function"), f"{where}.function"),
        mail=_mail(table.get("mail"), f"{where}.mail"),
        sendmail=_words(table["sendmail"], f"{where}.sendmail") if "sendmail" in table else SENDMAIL,
        at_most_per_hour=int(_number(table.get("at-most-per-hour", 10), f"{where}.at-most-per-hour", 1, 3600)),
        timeout=_number(table.get("timeout", 30), f"{where}.timeout", 0.1, 3600),
        folder=folder,
    )


def _occasions(value: object, where: str) -> frozenset[Occasion]:
    if value is None:
        return ALARMS
    try:
        return frozenset(Occasion(each) for each in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise UsageError(f"{where}.on must be a list out of {', '.join(Occasion)}, not {value!r:.80}") from None


def _words(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(word, str) and "\0" not in word for word in value):
        return tuple(value)
    raise UsageError(f'{where} must be a list of words, like ["/usr/local/bin/page", "--team", "shop"]')


def _function(value: object, where: str) -> str | None:
    if value is None:
        return None
    path, colon, name = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if not path.endswith(".py") or not name.isidentifier():
        raise UsageError(f'{where} must be a file and a function, like "alerts.py:told"')
    return path + colon + name


def _mail(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, str):
        raise UsageError(f"{where} must be a text with addresses")
    return recipients(value)


def _number(value: object, where: str, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise UsageError(f"{where} must be a number from {least:g} to {most:g}, not {value!r:.80}")
    return float(value)
