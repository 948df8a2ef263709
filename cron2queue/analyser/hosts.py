"""Which crontab files belong to one machine: locks, herds and chains end at its border."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from cron2queue.expressions import regex

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile

_TREE = regex(r"(?:^|/)(?:etc/(?:ana)?cron(?:tab|\.[a-z]+)|var/(?:spool/)?cron|usr/lib/cron)(?:/|$)")


@lru_cache(maxsize=4096)
def _root(path: str) -> str:
    match = _TREE.search(path)
    return path[: match.start()].rstrip("/") if match else ""


def host_of(file: CrontabFile) -> str:
    """The file's host: as the source said, else the folder above its /etc or /var, "" for this or the only machine."""
    return file.host if file.host is not None else _root(file.path)
