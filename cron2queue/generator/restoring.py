"""Crontabs as they were before any replacement, so that a converted crontab can be converted again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.generator.conversion import Original
from cron2queue.plan.blocks import restored
from cron2queue.plan.manifest import digest

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile

# Debian: /var/spool/cron/crontabs/USER, FreeBSD and OpenBSD: /var/cron/tabs/USER, cronie: /var/spool/cron/USER.
_SPOOL = re.compile(r"(?:/var/spool/cron(?:/crontabs)?|/var/cron/tabs|/etc/crontabs)/(?P<user>[^/]+)\Z")


def spool_user(path: str) -> str | None:
    """Whose crontab lies there, when only crontab(1) may write it."""
    found = _SPOOL.search(path)
    return found["user"] if found else None


def original(file: CrontabFile, *, user: str | None = None) -> Original:
    """The crontab without replacements, and how the live one can be reached. `user`: whose it is, where that was said."""
    live = file.to_bytes()
    before = restored(live)
    if before != live:
        kind = Kind(file.kind)
        file = parse(before, path=file.path, dialect=dialect_named(file.dialect), kind=kind, user=user)
    is_file = file.path.startswith("/")
    return Original(
        file=file,
        live_sha256=digest(live),
        target=file.path if is_file else None,
        user=spool_user(file.path),
    )


def originals(files: Iterable[CrontabFile], *, user: str | None = None) -> list[Original]:
    """The same for several."""
    return [original(file, user=user) for file in files]
