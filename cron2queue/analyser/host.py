"""Facts of the machine itself, where the audit runs on it or on a copied tree; without them nothing of it is claimed."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """What decides whether a daemon accepts a crontab file: permission bits, owner's name (None: not known), hard links."""

    mode: int
    owner: str | None
    links: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStart:
    """Another way in which a command can start on this host: a systemd timer or a script in cron.daily."""

    origin: str
    name: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """What is known of the host. `users` is None when they could not be read; `paths` maps looked-up paths to "exists"."""

    users: frozenset[str] | None = None
    paths: Mapping[str, bool] = field(default_factory=dict)
    files: Mapping[str, FileFacts] = field(default_factory=dict)
    starts: tuple[OtherStart, ...] = ()
    mail: bool | None = None
