"""Log files that remedies name: the shell does not even start a command whose log the user may not open."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cron2queue.analyser.finding import Finding
    from cron2queue.crontab.lines import Entry

_ROOTS = "/var/log/"
_OTHERS = "/var/log/APP/"


def log_path(entry: Entry, name: str) -> str:
    """A file right below /var/log for root, who alone may make one there; for others one in a folder of the application."""
    user = entry.environment.get("LOGNAME") or entry.user
    return f"{_ROOTS if user == 'root' else _OTHERS}{name}.log"


def folded_log(before: str, findings: Sequence[Finding], after: str = "") -> str:
    """The remedy of several findings: the application's folder when one of them needs it."""
    folder = _OTHERS if any(_OTHERS in each.remedy for each in findings) else _ROOTS
    return f"{before}{folder}NAME.log{after}"
