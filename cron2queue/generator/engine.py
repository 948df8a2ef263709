"""The contract of the engines: what a planned entry is turned into. One class a module in engines/, found by discovery."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from cron2queue.discovery import members
from cron2queue.errors import UsageError
from cron2queue.plan.model import Plan, PlannedJob
from cron2queue.runtime.plan_tables import did_you_mean
from cron2queue.runtime.settings import Overlap

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cron2queue.crontab.lines import CrontabFile, Entry
    from cron2queue.crontab.schedule import Fire
    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.templating import Templates


_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?\Z")


class CannotConvert(UsageError):
    """One entry cannot be turned into this target as it stands; it stays in the crontab, and the reason is shown."""


def checked_user(user: str | None) -> str | None:
    """A user's name that may stand in units and in tmpfiles.d as it is. Raises CannotConvert for any other."""
    if user is not None and not _USER.match(user):
        raise CannotConvert(f"{user[:40]!r} cannot stand as a user's name in a unit", remedy="leave it in cron")
    return user


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One entry on its way: the planned job, the entry as read, and the file that holds it.

    `broken` is its line as it stands, where `entry` is what becomes of it when it is put right.
    """

    job: PlannedJob
    entry: Entry
    file: CrontabFile
    broken: bytes | None = None

    @property
    def old(self) -> bytes:
        """The physical line that gives way."""
        return self.entry.raw if self.broken is None else self.broken


def delay_minutes(move: Move) -> int:
    """Up to how many minutes after its moment this cron starts the job: the RANDOM_DELAY that stands last above it."""
    if move.file.dialect not in ("cronie", "systemd-cron"):
        return 0
    known = [each for each in move.file.assignments if each.name == "RANDOM_DELAY" and each.number < move.entry.number]
    number = re.match(r"[ \t]*\+?([0-9]{1,9})", known[-1].value if known else "")
    return int(number[1]) if number and int(number[1]) <= 1440 else 0


_VERBS = {Overlap.PARALLEL: "run in parallel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CronCommand:
    """What stands in the crontab in the place of the old command. `needs` are files that must be there before."""

    command: str
    stdin: str | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """What an engine works with: the plan, the moves that are its own, the templates."""

    plan: Plan
    moves: Sequence[Move]
    templates: Templates
    zone: ZoneInfo
    at: datetime


class Engine(ABC):
    """One target.

    `overlaps` names, for every overlap policy, either "" (the target does it) or the reason why it cannot; `in_cron` says
    whether a line stays in the crontab, so that cron itself still decides when it fires.
    """

    overlaps: ClassVar[Mapping[Overlap, str]]
    database_scope: ClassVar[str] = ""
    """Why this target cannot keep a job apart over several hosts; empty when it can."""
    in_cron: ClassVar[bool] = True
    has_workers: ClassVar[bool] = False
    """Whether its jobs stand in the job table and are done by workers."""
    draws: ClassVar[bool] = False
    """Whether it can start a job some time after its moment, at random, as cronie does below RANDOM_DELAY."""
    files_of: ClassVar[str] = ""
    """The engine that writes this one's files together with its own; empty when it writes them itself."""

    @classmethod
    def engine_name(cls) -> str:
        """The name in the plan and on the command line: that of the module."""
        return cls.__module__.rpartition(".")[2].replace("_", "-")

    def refuse(self, move: Move, plan: Plan) -> None:
        """Raise CannotConvert when this target cannot keep what the plan says."""
        settings = move.job.settings
        checked_user(settings.user)
        reason = self.overlaps[settings.overlap]
        if reason:
            can = " or ".join(f'"{overlap}"' for overlap, why in self.overlaps.items() if not why)
            verb = _VERBS.get(settings.overlap, str(settings.overlap))
            raise CannotConvert(f"{self.engine_name()} cannot {verb}: {reason}", remedy=f"overlap = {can}")
        if settings.scope == "database" and self.database_scope:
            text = f"{self.engine_name()} cannot keep to scope database: {self.database_scope}"
            raise CannotConvert(text, remedy='scope = "host"')

    @abstractmethod
    def cron_command(self, move: Move, plan: Plan) -> CronCommand | None:
        """The command that stays in the crontab; None when the line goes away."""

    @abstractmethod
    def artifacts(self, workshop: Workshop) -> list[Artifact]:
        """Every file of this target, for all of its moves at once; an empty list when it needs none."""

    def units(self, move: Move, plan: Plan) -> tuple[str, ...]:
        """The units that take over from a line that goes away: they must be installed before it goes."""
        return ()

    def fires(self, move: Move, start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[Fire]:
        """When the target starts the job, for targets that do not stay in the crontab."""
        raise CannotConvert(f"{self.engine_name()} leaves the schedule to cron")


@cache
def engines() -> Mapping[str, Engine]:
    """Every engine by its name."""
    return {each.engine_name(): each() for each in members("cron2queue.generator.engines", Engine)}  # type: ignore[type-abstract]


def engine_named(name: str) -> Engine:
    """The engine of that name. Raises UsageError with what was meant."""
    known = engines()
    if name not in known:
        raise UsageError(f"there is no engine {name!r}", remedy=did_you_mean(name, known))
    return known[name]
