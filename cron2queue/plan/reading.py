"""cron2queue.toml in, a plan out; every mistake is told with its line, and misspelt keys with what was meant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import tomlkit
from tomlkit.exceptions import ParseError, TOMLKitError

from cron2queue.errors import UsageError
from cron2queue.plan.keys import PROJECT_WORDS, known_keys
from cron2queue.plan.model import Hardening, Language, PlannedJob, Project, Userland
from cron2queue.plan.naming import is_slug
from cron2queue.runtime.alerts import alert_settings
from cron2queue.runtime.hooks.hook import hooks_from
from cron2queue.runtime.plan_lines import line_of
from cron2queue.runtime.plan_tables import Misplaced, did_you_mean
from cron2queue.runtime.settings import TABLES, Settings, settings_from

if TYPE_CHECKING:
    from pathlib import Path

    from tomlkit import TOMLDocument


class PlanText:
    """The text of a plan with its name, for messages that point at a line."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path

    def wrong(self, message: str, *, table: str = "", key: str | None = None, remedy: str | None = None) -> UsageError:
        """The error for a place in the file."""
        line = line_of(self.text, table, key) or line_of(self.text, table)
        return UsageError(message, remedy=remedy, place=f"{self.path}:{line}" if line else str(self.path))

    def document(self) -> TOMLDocument:
        """The parsed file. Raises UsageError with the line of the mistake."""
        try:
            return tomlkit.parse(self.text)
        except ParseError as trouble:
            place = f"{self.path}:{trouble.line}:{trouble.col}"
            raise UsageError(f"the plan is not TOML: {trouble}", place=place, remedy="repair that line") from None
        except (TOMLKitError, RecursionError) as trouble:
            raise UsageError(f"the plan is not TOML: {trouble}", place=str(self.path), remedy="repair what it names") from None

    def unknown(self, key: str, table: str, known: frozenset[str]) -> UsageError:
        """The error for a key that nobody reads."""
        shown = f"unknown key {key!r} in [{table}]" if table else f"unknown key or table {key!r}"
        return self.wrong(shown, table=table, key=key, remedy=did_you_mean(key, known))


def _check_table(source: PlanText, table: object, where: str, known: frozenset[str]) -> None:
    if not isinstance(table, Mapping):
        raise source.wrong(f"[{where}] must be a table", table="", key=where)
    for key in table:
        if key not in known:
            raise source.unknown(key, where, known)


def check_keys(source: PlanText, document: Mapping[str, Any]) -> None:
    """Refuse every table and key that is not known."""
    for key in document:
        if key not in TABLES:
            raise source.unknown(key, "", TABLES)
    _check_table(source, document.get("project", {}), "project", known_keys("project"))
    for kind in ("queues", "jobs"):
        tables = document.get(kind, {})
        if not isinstance(tables, Mapping):
            raise source.wrong(f"[{kind}] must hold one table a name", table="", key=kind)
        for name, table in tables.items():
            if not is_slug(name):
                raise source.wrong(
                    f"{name!r} cannot be a name in [{kind}]", table=f"{kind}.{name}", remedy="use a-z, 0-9, - and _"
                )
            _check_table(source, table, f"{kind}.{name}", known_keys(kind))


def read_settings(source: PlanText, document: Mapping[str, Any]) -> Settings:
    """The runtime's own reading of the whole plan, alerts and hooks too; its mistakes with their lines."""
    try:
        settings = settings_from(document, folder=source.path.parent)
        alert_settings(document)
        hooks_from(document, folder=source.path.parent)
        return settings
    except Misplaced as trouble:
        raise source.wrong(trouble.message, table=trouble.table, key=trouble.key, remedy=trouble.remedy) from None
    except UsageError as trouble:
        raise source.wrong(trouble.message, table="", key="format-version", remedy=trouble.remedy) from None


_WORDS: Mapping[str, type[Language | Userland | Hardening]] = {
    "language": Language,
    "userland": Userland,
    "harden": Hardening,
}
_SHAPES = {
    "prefix": (r"[a-z_][a-z0-9_]{0,30}", "at most 31 of a-z, 0-9 and _"),
    "name": (r"[a-z0-9][a-z0-9_-]{0,62}", "a name of a-z, 0-9, - and _"),
    **dict.fromkeys(("folder", "python", "lock-folder"), (r"/[A-Za-z0-9_./+@,:=-]*", "an absolute path of plain characters")),
}


def _project_value(key: str, value: object) -> Any:
    """A checked value of [project]. Raises UsageError without a place."""
    if key in _WORDS:
        words = _WORDS[key]
        if value not in list(words):
            remedy = did_you_mean(str(value), frozenset(map(str, words)))
            raise UsageError(f"{key} must be one of {', '.join(words)}, not {value!r}", remedy=remedy)
        return words(str(value))
    wanted = bool if key in ("shadow", "observe") else str
    if not isinstance(value, wanted) or (isinstance(value, str) and re.search("[\x00-\x1f\x7f]", value)):
        kind = "true or false" if wanted is bool else "a text without control characters"
        raise UsageError(f"{key} must be {kind}, not {value!r}", remedy=f"write {kind}")
    shape, words_for_it = _SHAPES.get(key, ("(?s:.*)", ""))
    if isinstance(value, str) and not re.fullmatch(shape, value):
        raise UsageError(f"{key} must be {words_for_it}, not {value!r}", remedy=f"write {words_for_it}")
    if key == "database":
        _check_database(str(value))
    if key == "timezone":
        _check_timezone(str(value))
    return value


def _check_database(url: str) -> None:
    """What it says of the URL never repeats it: a password may stand there."""
    from cron2queue.runtime.database.address import parse

    try:
        parse(url)
    except UsageError as trouble:
        raise UsageError(f"database: {trouble.message}", remedy=trouble.remedy) from None


def _check_timezone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UsageError(f"timezone: there is no time zone {name!r:.80}", remedy="write one like Europe/Berlin") from None


_OPTIONS = frozenset({"language", "engine", "database", "shadow", "observe"})


def checked_choices(given: Mapping[str, object]) -> dict[str, Any]:
    """Values for [project] from the command line, by attribute; None stays None. Raises UsageError with the option."""
    checked: dict[str, Any] = {}
    for name, value in given.items():
        key = name.replace("_", "-")
        option = f"--{key}" if key in _OPTIONS else f"--set {key}"
        try:
            checked[name] = None if value is None else _project_value(key, value)
        except UsageError as trouble:
            raise UsageError(trouble.message, remedy=trouble.remedy, place=option) from None
    return checked


def read_project(source: PlanText, document: Mapping[str, Any], fallback: Project) -> Project:
    """The table [project]; a key that is not there takes the value of `fallback`."""
    values = {key.replace("-", "_"): getattr(fallback, key.replace("-", "_")) for key in PROJECT_WORDS}
    for key, value in document.get("project", {}).items():
        if key not in PROJECT_WORDS:
            continue  # the runtime's alone
        try:
            values[key.replace("-", "_")] = _project_value(key, value)
        except UsageError as trouble:
            raise source.wrong(f"project.{trouble.message}", table="project", key=key, remedy=trouble.remedy) from None
    return Project(**values)


def read_jobs(
    source: PlanText, document: Mapping[str, Any], settings: Settings, fresh: Mapping[str, PlannedJob], engine: str
) -> tuple[PlannedJob, ...]:
    """The jobs of the crontab, with the file's values; `fresh` maps names in the file to what was just judged."""
    engines = document.get("engines", {})
    for name, word in engines.items():
        if name not in settings.jobs:
            known = frozenset(settings.jobs)
            raise source.wrong(f"no job is named {name!r}", table="engines", key=name, remedy=did_you_mean(name, known))
        if not isinstance(word, str):
            remedy = "write the name of an engine in quotes"
            raise source.wrong(f"engines.{name} must be a name", table="engines", key=name, remedy=remedy)
    jobs = []
    for name, job in fresh.items():
        table = settings.jobs[name]
        if settings.queues and table.decision in ("queue", "split") and table.queue not in settings.queues:
            meant = did_you_mean(table.queue, frozenset(settings.queues))
            remedy = f"give it a table [queues.{table.queue}]; {meant}"
            raise source.wrong(f"there is no queue {table.queue!r}", table=f"jobs.{name}", key="queue", remedy=remedy)
        jobs.append(
            PlannedJob(
                settings=table,
                engine=str(engines.get(name, "guard" if table.decision == "guard" else engine)),
                because=job.because,
                questions=job.questions,
                notes=job.notes,
                verdict=job.verdict,
            )
        )
    return tuple(jobs)
