"""Crontabs as they were before any replacement, so that a converted crontab can be converted again; repaired lines stay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.spool import without_heading
from cron2queue.generator.drafts import Original
from cron2queue.plan.blocks import found_blocks, restored
from cron2queue.plan.manifest import digest

if TYPE_CHECKING:
    from cron2queue.crontab.lines import CrontabFile

PIPE, OWN = "-", "crontab -l"
# Debian: /var/spool/cron/crontabs/USER, FreeBSD and OpenBSD: /var/cron/tabs/USER, cronie: /var/spool/cron/USER.
_SPOOL = re.compile(r"(?:/var/spool/cron(?:/crontabs)?|/var/cron/tabs|/etc/crontabs)/(?P<user>[^/]+)\Z")


def spool_user(path: str) -> str | None:
    """Whose crontab lies there, when only crontab(1) may write it."""
    found = _SPOOL.search(path)
    return found["user"] if found else None


def original(file: CrontabFile, *, caller: str | None = None, owner: str | None = None) -> Original:
    """The crontab without replacements, and how the live one can be reached.

    `caller`: whose crontab `crontab -l` shows. `owner`: whose a user's crontab is that lies in no spool.
    """
    live = file.to_bytes()
    user = caller if file.path == OWN else spool_user(file.path)
    if user is not None:
        live = without_heading(live)
    before = restored(live)
    if file.editable and before != file.to_bytes():
        kind = Kind(file.kind)
        again = parse(before, path=file.path, dialect=dialect_named(file.dialect), kind=kind, user=user)
        file = replace(again, notes=file.notes, host=file.host)
    return Original(
        file=file,
        live_sha256=digest(live),
        blocks=tuple(block for block in found_blocks(live) if not block.repaired),
        target=_target(file),
        user=user,
        owner=user or (owner if file.kind is Kind.USER else None),
    )


def _target(file: CrontabFile) -> str | None:
    """The file that cron reads; text through a pipe has none, and neither has what is no crontab."""
    if file.path in (PIPE, OWN) or not file.editable:
        return None
    return str(Path(file.path).absolute())


def originals(files: Iterable[CrontabFile], *, caller: str | None = None, owner: str | None = None) -> list[Original]:
    """The same for several."""
    return [original(file, caller=caller, owner=owner) for file in files]
