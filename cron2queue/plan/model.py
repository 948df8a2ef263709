"""The plan: verdicts turned into named jobs, queues and the choices of the whole migration."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Decision
from cron2queue.plan.secrecy import holds_secret
from cron2queue.runtime.settings import JobSettings, QueueSettings

if TYPE_CHECKING:
    from cron2queue.analyser.verdicts import Verdict

MIGRATED = frozenset({Decision.QUEUE, Decision.SPLIT})
"""Decisions that make a job of an entry."""


class Language(StrEnum):
    """What handlers are written in."""

    PYTHON = "python"
    PHP = "php"
    SHELL = "shell"
    NODE = "node"

    @property
    def ending(self) -> str:
        """Of the names of its files."""
        return {Language.PYTHON: "py", Language.PHP: "php", Language.SHELL: "sh", Language.NODE: "js"}[self]


class Userland(StrEnum):
    """Whose `flock` and `timeout` the host has."""

    GNU = "gnu"
    BUSYBOX = "busybox"


class Hardening(StrEnum):
    """How much a generated unit takes away from its job."""

    OFF = "off"
    BASIC = "basic"
    STRICT = "strict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The table [project]. Folders and the interpreter are absolute; `prefix` begins the names of the tables.

    `folder` is where the plan's folder lies on the host that runs the crontab.

    `shadow`: producers enqueue while the old lines still run, and nothing is worked off but compared. `observe`: entries
    that stay are started through `cron2queue observe`, which records their runs.
    """

    name: str
    language: Language
    database: str
    prefix: str
    timezone: str
    engine: str
    userland: Userland
    folder: str
    python: str
    lock_folder: str
    harden: Hardening
    shadow: bool = False
    observe: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """One entry of the crontab and what becomes of it.

    `settings` is its table in the plan. `because` and `questions` come from the verdict and are shown, not edited;
    `notes` tell what the builder chose and why.
    """

    settings: JobSettings
    engine: str
    because: str = ""
    questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None

    @property
    def name(self) -> str:
        """The slug by which everybody calls it."""
        return self.settings.name

    @property
    def decision(self) -> Decision:
        """What becomes of it, after edits by hand."""
        return Decision(self.settings.decision.upper())

    @property
    def secret(self) -> bool:
        """Whether its command or its environment holds a password: then nothing but the plan may repeat it."""
        return holds_secret(self.settings.command, self.settings.stdin, self.settings.environment)

    @property
    def migrated(self) -> bool:
        """Whether it leaves cron and becomes a job."""
        return self.decision in MIGRATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole plan. `gone` names jobs that the plan still holds, but whose entries the crontab has no more.

    `hooks` are the names of those that want to be told of trouble.
    """

    project: Project
    queues: tuple[QueueSettings, ...]
    jobs: tuple[PlannedJob, ...]
    gone: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()

    @property
    def migrated(self) -> tuple[PlannedJob, ...]:
        """The jobs that leave cron."""
        return tuple(each for each in self.jobs if each.migrated)
