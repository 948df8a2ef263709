"""The plan's vocabulary as the runtime reads it: cron2queue.toml in, typed settings or one clear error out.

Only tomllib is needed, so that a producer line that cron starts each minute stays cheap. A key that is not known is
refused: a misspelt `timeout` must not silently mean "no timeout".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from cron2queue.errors import InputError, UsageError
from cron2queue.record import Record
from cron2queue.runtime.database.address import parse
from cron2queue.runtime.database.prefix import checked_prefix
from cron2queue.runtime.plan_tables import Misplaced, Unfit, did_you_mean, placed, read_table, tables_of, unreadable
from cron2queue.runtime.retention import Retention, days

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT_VERSION = 1
PLAN_NAME = "cron2queue.toml"
DEFAULT_DATABASE = "sqlite:///./cron2queue.db"
STATUS_MEANINGS = ("done", "retry", "failed", "permanent")
DECISIONS = ("queue", "split", "guard", "keep", "fix", "drop", "ask")
OLD_COMMAND = "command"  # as a handler: run the crontab's command unchanged


class Overlap(StrEnum):
    """What a tick does while the same job is still waiting or running."""

    SKIP = "skip"
    MERGE = "merge"
    WAIT = "wait"
    QUEUE = "queue"
    REPLACE = "replace"
    PARALLEL = "parallel"


class Scope(StrEnum):
    """Where "the same job" is looked for: on this host, or on every host of the database."""

    HOST = "host"
    DATABASE = "database"


class Missed(StrEnum):
    """What becomes of ticks that passed while nothing could enqueue them."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


class Retry(StrEnum):
    """The named retry rules; the third form is a list of delays in seconds."""

    NONE = "none"
    EXPONENTIAL = "exponential"


RetryRule = Retry | tuple[float, ...]


class ProjectSettings(Record):
    """The table [project], but for the keys that only the generator reads.

    `handlers` are Python modules by dotted name whose handlers are registered beside those of the jobs.
    """

    name: str = "cron2queue"
    language: str = "python"
    database: str = DEFAULT_DATABASE
    prefix: str = "c2q_"
    handlers: tuple[str, ...] = ()
    timezone: str | None = None
    lock_folder: str | None = None


class QueueSettings(Record):
    """One table [queues.NAME]: limits over all workers; `age_limit` in seconds of the oldest ready job."""

    name: str
    concurrency: int = 1
    depth_limit: int | None = None
    age_limit: float | None = None


class JobSettings(Record):
    """One table [jobs.NAME]. Times in seconds, `memory_limit` in bytes.

    `exit_statuses` says what a status means for this kind: done, retry, failed or permanent. `short` lets a child take
    its jobs in groups, `strict` commits the end of each job by itself, `waits_only` lets jobs of a function
    run as threads side by side, `force_cancel` allows a cancel to kill,
    `must_not_be_lost` refuses brokers that may lose messages. `lock` names the lock of `cron2queue lock` that a run holds.
    `zone` is that of the schedule, where the crontab gives it one of its own. `written` names the keys that the file holds.
    """

    name: str
    kind: str
    decision: str = "queue"
    source: str | None = None
    line: int | None = None
    entry: str | None = None
    schedule: str | None = None
    zone: str | None = None
    user: str | None = None
    command: str | None = None
    stdin: str | None = None
    shell: str = "/bin/sh"
    environment: Mapping[str, str] = MappingProxyType({})
    queue: str = "default"
    priority: int = 100
    timeout: float | None = None
    grace: float = 10.0
    max_attempts: int = 8
    retry: RetryRule = Retry.EXPONENTIAL
    overlap: Overlap = Overlap.SKIP
    scope: Scope = Scope.HOST
    missed: Missed = Missed.SKIP
    missed_limit: int = 10
    handler: str = OLD_COMMAND
    memory_limit: int | None = None
    exit_statuses: Mapping[int, str] = MappingProxyType({})
    short: bool = False
    strict: bool = False
    waits_only: bool = False
    force_cancel: bool = True
    must_not_be_lost: bool = False
    lock: str | None = None
    written: frozenset[str] = frozenset()


class Settings(Record):
    """A whole plan as the runtime sees it; `folder` is where its relative paths start."""

    folder: Path
    project: ProjectSettings = ProjectSettings()
    queues: Mapping[str, QueueSettings] = MappingProxyType({})
    jobs: Mapping[str, JobSettings] = MappingProxyType({})
    retention: Retention = Retention()


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise Unfit("a text without NUL")
    return value


def _name(value: object) -> str:
    text = _text(value)
    if not 1 <= len(text.encode("utf-8", "surrogatepass")) <= 191:
        raise Unfit("a name of 1 to 191 bytes")
    return text


def _whole(least: int, most: int = 2**31 - 1) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise Unfit(f"a whole number from {least} to {most}")
        return value

    return read


def _seconds(above: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not above <= value <= 10**9:  # type: ignore[operator]
            raise Unfit(f"a number of seconds, at least {above:g}")
        return float(value)  # type: ignore[arg-type]

    return read


def _one_of(words: type[StrEnum]) -> Callable[[object], Any]:
    def read(value: object) -> StrEnum:
        try:
            return words(value if isinstance(value, str) else "")
        except ValueError:
            raise Unfit("one of " + ", ".join(words), tuple(words)) from None

    return read


def _decision(value: object) -> str:
    """A misspelt one would silently be a job that no worker takes."""
    if value not in DECISIONS:
        raise Unfit("one of " + ", ".join(DECISIONS), DECISIONS)
    return str(value)


def _retry(value: object) -> RetryRule:
    if isinstance(value, list):
        delays = tuple(_seconds(0)(each) for each in value)
        if not 1 <= len(delays) <= 100:
            raise Unfit("a list of 1 to 100 delays")
        return delays
    try:
        return Retry(value)  # type: ignore[arg-type]
    except ValueError:
        raise Unfit('"exponential", "none" or a list of seconds') from None


def _environment(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict):
        raise Unfit("a table of names and texts")
    if any("=" in name or "\0" in name or not name for name in value):
        raise Unfit("a table whose names are not empty and hold no '='")
    return MappingProxyType({name: _text(text) for name, text in value.items()})


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Unfit("true or false")
    return value


def _days(value: object) -> float | None:
    try:
        return days(value)
    except ValueError as wrong:
        raise Unfit(str(wrong)) from None


def _modules(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise Unfit("a list of module names")
    return tuple(value)


def _exit_statuses(value: object) -> Mapping[int, str]:
    if not isinstance(value, dict):
        raise Unfit("a table from exit status to meaning")
    for status, word in value.items():
        if not (status.isascii() and status.isdecimal() and int(status) <= 255) or word not in STATUS_MEANINGS:
            raise Unfit('a table from exit status (0 to 255) to one of "' + '", "'.join(STATUS_MEANINGS) + '"')
    return MappingProxyType({int(status): word for status, word in value.items()})


_PROJECT: Mapping[str, Callable[[object], Any]] = {
    "name": _text,
    "language": _text,
    "database": _text,
    "prefix": _text,
    "handlers": _modules,
    "timezone": _text,
    "lock-folder": _text,
}
_QUEUE: Mapping[str, Callable[[object], Any]] = {
    "concurrency": _whole(1),
    "depth-limit": _whole(1),
    "age-limit": _seconds(0.001),
}
_JOB: Mapping[str, Callable[[object], Any]] = {
    "decision": _decision,
    **dict.fromkeys(("source", "entry", "schedule", "zone", "user", "command", "stdin", "shell", "handler"), _text),
    "lock": _text,
    **dict.fromkeys(("kind", "queue"), _name),
    "line": _whole(1),
    "environment": _environment,
    "priority": _whole(-(2**31)),
    "timeout": _seconds(0.001),
    "grace": _seconds(0),
    "max-attempts": _whole(1),
    "retry": _retry,
    "overlap": _one_of(Overlap),
    "scope": _one_of(Scope),
    "missed": _one_of(Missed),
    "missed-limit": _whole(1),
    "memory-limit": _whole(2**20, 2**50),
    "exit-statuses": _exit_statuses,
    **dict.fromkeys(("short", "strict", "waits-only", "force-cancel", "must-not-be-lost"), flag),
}
_RETENTION: Mapping[str, Callable[[object], Any]] = dict.fromkeys(Retention.__slots__, _days)
TABLES = frozenset({"format-version", "project", "queues", "jobs", "engines", "retention", "alerts", "hooks"})
GENERATOR_KEYS = frozenset({"engine", "userland", "folder", "python", "harden", "shadow", "observe"})
"""Of [project]: `convert` alone reads them, but everybody knows them, so that a misspelt `database` is one to nobody."""
PROJECT_KEYS = GENERATOR_KEYS | frozenset(_PROJECT)
QUEUE_KEYS = frozenset(_QUEUE)
JOB_KEYS = frozenset(_JOB)


def _job(name: str, table: object) -> JobSettings:
    read = read_table(table, f"jobs.{name}", _JOB)
    job = JobSettings(name=name, **{"kind": name, **read, "written": frozenset(read)})
    if job.decision in ("queue", "split") and job.handler == OLD_COMMAND and job.command is None:
        remedy = "write `command` or `handler`"
        raise Misplaced(f"jobs.{name} has neither a command nor a handler", remedy=remedy, table=f"jobs.{name}")
    if job.waits_only and not job.handler.endswith(".py"):
        remedy = "take the key away: a command or a program has a process of its own, whatever it does"
        raise Misplaced(f"jobs.{name}.waits-only is for Python handlers", remedy=remedy, table=f"jobs.{name}", key="waits-only")
    if job.lock is not None and job.scope is Scope.DATABASE:
        remedy = 'take it on each host with scope = "host", or put `cron2queue lock --scope database` before the command'
        raise Misplaced(f"jobs.{name}.lock is a lock of one host", remedy=remedy, table=f"jobs.{name}", key="lock")
    return job


def _project(table: object) -> ProjectSettings:
    project = ProjectSettings(**read_table(table, "project", _PROJECT, others=GENERATOR_KEYS))
    checks: tuple[tuple[str, Callable[[], object]], ...] = (
        ("database", lambda: parse(project.database)),
        ("prefix", lambda: checked_prefix(project.prefix)),
    )
    for key, check in checks:
        try:
            check()
        except UsageError as trouble:
            said = f"project.{key}: {trouble.message}"
            raise Misplaced(said, remedy=trouble.remedy, table="project", key=key) from None
    return project


def settings_from(document: Mapping[str, Any], *, folder: Path) -> Settings:
    """Typed settings from a parsed plan. Raises UsageError that names the key and what it takes."""
    version = document.get("format-version", FORMAT_VERSION)
    if version != FORMAT_VERSION:
        raise UsageError(
            f"format-version {version!r} of the plan is not known here",
            remedy="use the release of cron2queue that wrote it, or a newer one",
        )
    for name in document:
        if name not in TABLES:
            raise Misplaced(f"unknown key or table {name!r}", remedy=did_you_mean(name, TABLES), table="", key=name)
    queues = {
        name: QueueSettings(name=name, **read_table(table, f"queues.{name}", _QUEUE))
        for name, table in tables_of(document, "queues").items()
    }
    project = _project(document.get("project", {}))
    return Settings(
        folder=folder,
        project=project.but(database=from_folder(project.database, folder)),
        queues=MappingProxyType(queues),
        jobs=MappingProxyType({name: _job(name, table) for name, table in tables_of(document, "jobs").items()}),
        retention=Retention(**read_table(document.get("retention", {}), "retention", _RETENTION)),
    )


def from_folder(url: str, folder: Path | str) -> str:
    """A database URL as a plan in this folder means it: a relative SQLite file lies there, wherever a command was started."""
    scheme, slashes, file = url.partition(":///")
    if not slashes or scheme.partition("+")[0] != "sqlite" or not file or file.startswith(("/", ":", "file:")):
        return url
    return f"{scheme}:///{folder}/{file.removeprefix('./')}"


def read_settings(path: Path) -> Settings:
    """Read a plan file. Raises InputError when it cannot be read, UsageError when it cannot be used."""
    import tomllib

    data = b""
    try:
        data = path.read_bytes()
        document = tomllib.loads(data.decode("utf-8"))
    except OSError as trouble:
        remedy = "name the cron2queue.toml that convert has written with --plan"
        raise InputError(f"the plan cannot be read: {trouble.strerror}", place=str(path), remedy=remedy) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as trouble:
        raise unreadable(trouble, data, path) from None
    except RecursionError:
        raise UsageError("the plan is nested too deeply", place=str(path), remedy="write its tables side by side") from None
    with placed(path):
        return settings_from(document, folder=Path(os.path.realpath(path)).parent)


def key_of(name: str) -> str:
    """How a field of these settings is written in the file: `max_attempts` is `max-attempts`."""
    return name.replace("_", "-")


def defaults(kind: type[JobSettings] | type[QueueSettings]) -> Mapping[str, object]:
    """The values that hold where the file is silent, by key."""
    blank: Any = kind(name="", kind="") if kind is JobSettings else kind(name="")  # type: ignore[call-arg]
    return {key_of(name): getattr(blank, name) for name in kind.__slots__}
