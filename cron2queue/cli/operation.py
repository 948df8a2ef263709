"""What every operator's command starts from: the plan if there is one, the database, and who is acting."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cron2queue.errors import UsageError
from cron2queue.expressions import regex
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.runtime.alerts import AlertSettings
    from cron2queue.runtime.hooks.hook import Hook
    from cron2queue.runtime.settings import Settings
    from cron2queue.runtime.sight.inspection import Inspection
    from cron2queue.runtime.store import Store

PLAN_NAME = "cron2queue.toml"
NearestPlan = Annotated[
    Path | None, typer.Option("--plan", help="The plan; without it, the nearest cron2queue.toml upward from here.")
]
By = Annotated[str | None, typer.Option("--by", help="Who acts, for the record; without it, user@host.")]
_SPAN = regex(r"(\d+(?:\.\d+)?)(s|m|h|d|w)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_RELAYED = ("celery", "celery-beat")  # engines


class Operation(Record):
    """Where an operator acts. `plan`, `settings` and `document` are None, None and empty without a plan.

    `options` are those of the command line that led here, with a blank before each: another command needs them too.
    """

    url: str
    prefix: str
    settings: Settings | None
    document: Mapping[str, Any]
    plan: Path | None = None
    options: str = ""

    def inspection(self) -> Inspection:
        """To look."""
        from cron2queue.runtime.sight.inspection import Inspection

        return Inspection.open(self.url, prefix=self.prefix)

    def store(self) -> AbstractContextManager[Store]:
        """To act; closed at the end of the with block."""
        from cron2queue.runtime.store import Store

        return closing(Store.open(self.url, prefix=self.prefix))

    @property
    def is_relayed(self) -> bool:
        """Whether the plan's jobs reach their workers through a broker."""
        project = self.document.get("project")
        return isinstance(project, dict) and project.get("engine") in _RELAYED

    @property
    def alerts(self) -> AlertSettings:
        """The plan's alert limits, or the defaults."""
        from cron2queue.runtime.alerts import alert_settings

        with self.placed():
            return alert_settings(self.document)

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The plan's hooks."""
        from cron2queue.runtime.hooks.hook import hooks_from

        with self.placed():
            return hooks_from(self.document, folder=self.settings.folder if self.settings else Path())

    def placed(self) -> AbstractContextManager[None]:
        """A mistake in the plan is told with its line."""
        from cron2queue.runtime.plan_tables import placed

        return nullcontext() if self.plan is None else placed(self.plan)


def operation(database: str | None, plan: Path | None) -> Operation:
    """From flags, then the environment (typer reads it), then the plan, then the defaults."""
    import tomllib

    from cron2queue.runtime.settings import ProjectSettings, read_settings

    path, options = plan or nearest(Path.cwd()), _options(database, plan)
    if path is None:
        project = ProjectSettings()
        url = database or project.database
        return Operation(url=url, prefix=project.prefix, settings=None, document={}, options=options)
    settings = read_settings(path)
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    url = database or settings.project.database
    prefix = settings.project.prefix
    return Operation(url=url, prefix=prefix, settings=settings, document=document, plan=path, options=options)


def _options(database: str | None, plan: Path | None) -> str:
    """What was typed, for a shell; a URL that holds a password is not repeated."""
    from shlex import quote

    from cron2queue.redaction import redact

    typed = database is not None and database != os.environ.get("CRON2QUEUE_DATABASE_URL") and redact(database) == database
    shown = f" --database {quote(database)}" if database is not None and typed else ""
    return (f" --plan {quote(str(plan))}" if plan is not None else "") + shown


_COMMAND = regex(r"cron2queue [^;,`]*[^;,` ]")


def completed(hint: str, options: str) -> str:
    """A hint with these options behind each command of cron2queue that it names."""
    return _COMMAND.sub(lambda found: found[0] + options, hint) if options else hint


def nearest(folder: Path) -> Path | None:
    """The plan in this folder or the nearest one above."""
    return next((each / PLAN_NAME for each in (folder, *folder.parents) if os.path.isfile(each / PLAN_NAME)), None)


def actor(by: str | None) -> str:
    """Who acts: as said, else the user behind sudo, at this host."""
    if by:
        return by
    import getpass  # only what acts needs them, and every command imports this module
    import socket

    try:
        name = os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):  # a user without an entry in the password database
        name = f"uid {os.getuid()}"
    return f"{name}@{socket.gethostname()}"


def moment(text: str | None, now: datetime) -> datetime | None:
    """`90m`, `2h`, `3d` ago, or an ISO 8601 time (UTC if it names no zone)."""
    if text is None:
        return None
    span = _SPAN.fullmatch(text)
    try:
        if span:
            return now - timedelta(seconds=float(span[1]) * _UNITS[span[2]])
        read = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r:.80} is no time", remedy="write 90m, 2h, 3d or 2026-11-30T14:00") from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def one_of(value: str, known: tuple[str, ...], option: str) -> str:
    """The value, if it is one of the known words."""
    if value not in known:
        raise UsageError(f"{option} {value!r:.80} is not known", remedy=f"use one of {', '.join(known)}")
    return value
