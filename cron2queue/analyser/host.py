"""Facts of the machine itself, where the audit runs on it or on a copied tree; without them nothing of it is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cron2queue.record import Record


class FileFacts(Record):
    """What decides whether a daemon accepts a crontab file: permission bits, owner's name (None: not known), hard links."""

    mode: int
    owner: str | None
    links: int = 1


class OtherStart(Record):
    """Another way in which a command can start on this host: a systemd timer or a script in cron.daily."""

    origin: str
    name: str
    command: str


class HostFacts(Record):
    """What is known of the host. `users` is None when they could not be read; `paths` maps looked-up paths to "exists"."""

    users: frozenset[str] | None = None
    paths: Mapping[str, bool] = MappingProxyType({})
    files: Mapping[str, FileFacts] = MappingProxyType({})
    starts: tuple[OtherStart, ...] = ()
    mail: bool | None = None
