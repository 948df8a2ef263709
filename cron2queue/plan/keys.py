"""The keys of cron2queue.toml: which tables exist, what may stand in them, and the words that explain them in the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cron2queue.analyser.verdicts import Decision
from cron2queue.plan.model import MIGRATED
from cron2queue.runtime.settings import JOB_KEYS, PROJECT_KEYS, QUEUE_KEYS

if TYPE_CHECKING:
    from cron2queue.plan.model import Project
    from cron2queue.runtime.settings import JobSettings, QueueSettings

HEADING = (
    "The plan of this migration. Edit it, then run `cron2queue convert` again: your values and comments stay.",
    "A key that you delete takes its default. Times are seconds. What each key means: docs/reference/plan.md",
)

PROJECT_WORDS: Mapping[str, str] = {
    "name": "",
    "language": "of the handlers: python php shell node",
    "database": "sqlite:///FILE, mysql+pymysql://, mariadb+pymysql:// or postgresql+psycopg://",
    "prefix": "begins the names of the tables",
    "timezone": "in which cron fires",
    "engine": "what migrated entries become: sqlqueue systemd celery celery-beat",
    "userland": "whose flock and timeout the host has: gnu busybox",
    "folder": "where this folder lies on the host that runs the crontab",
    "python": "the interpreter that has cron2queue installed, on the host that runs the crontab",
    "lock-folder": "made by units/tmpfiles.d; its files are never deleted",
    "harden": "how much a unit takes away from its job: off basic strict",
    "shadow": "true: old lines still run, producers enqueue beside them, workers only say so: diff --shadow",
    "observe": "true: entries that stay, or stand in shadow, are started through `cron2queue observe`",
}
FACTS = frozenset({"source", "line", "entry", "zone"})
"""What the crontab alone decides; never an edit."""

QUEUE_WORDS: Mapping[str, str] = {
    "concurrency": "jobs at one time, over all workers",
    "depth-limit": "enqueue refuses above it",
    "age-limit": "of the oldest ready job; above it enqueue refuses and `check` warns",
}
JOB_WORDS: Mapping[str, str] = {
    "decision": "queue split guard keep fix drop ask",
    "zone": "of the schedule, as the crontab has it",
    "timeout": "",
    "grace": "between TERM and KILL",
    "max-attempts": "runs, the first included",
    "retry": '"exponential", "none" or the delays',
    "overlap": "skip merge wait queue replace parallel",
    "scope": "host database",
    "missed": "ticks while nothing could enqueue: skip once all",
}

_ALWAYS = ("decision", "source", "line", "entry", "schedule", "zone", "user", "command", "stdin", "shell")
_GUARDED = ("timeout", "grace", "overlap", "scope")
_MIGRATED = (
    *("kind", "queue", "priority", "timeout", "grace", "max-attempts", "retry", "overlap", "scope"),
    *("missed", "missed-limit", "memory-limit", "must-not-be-lost", "handler"),
)


def plain(value: object) -> Any:
    """A value as TOML has it: words as text, tuples as lists, whole numbers without a fraction."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    return value


def keys_for(decision: Decision) -> tuple[str, ...]:
    """The keys that matter for a decision, in the order of the file; the environment is a table of its own."""
    if decision in MIGRATED:
        return (*_ALWAYS, *_MIGRATED, "environment")
    if decision is Decision.GUARD:
        return (*_ALWAYS, *_GUARDED, "environment")
    return _ALWAYS


def job_values(settings: JobSettings, decision: Decision) -> dict[str, Any]:
    """What a job's table holds; nothing stands there for a value that is not set or is the plain default."""
    values = {key: plain(getattr(settings, key.replace("-", "_"))) for key in keys_for(decision)}
    silent = {"shell": "/bin/sh", "environment": {}, "must-not-be-lost": False}
    values = {key: value for key, value in values.items() if value is not None and value != silent.get(key)}
    if values.get("missed") == "skip":
        values.pop("missed-limit", None)
    return values


def queue_values(settings: QueueSettings) -> dict[str, Any]:
    """What a queue's table holds."""
    values = {key: plain(getattr(settings, key.replace("-", "_"))) for key in QUEUE_WORDS}
    return {key: value for key, value in values.items() if value is not None}


def project_values(project: Project) -> dict[str, Any]:
    """What the table [project] holds."""
    return {key: plain(getattr(project, key.replace("-", "_"))) for key in PROJECT_WORDS}


def known_keys(table: str) -> frozenset[str]:
    """The keys that may stand in a table of this kind: project, queues or jobs."""
    return {"project": PROJECT_KEYS, "queues": QUEUE_KEYS, "jobs": JOB_KEYS}[table]
