"""What a conversion works from and what it decides: values only, from the crontab as it was to the lines as they will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Decision
from cron2queue.generator.repairing import NO_REPAIRS, Repair, RepairedFile
from cron2queue.plan.model import MIGRATED, Plan, PlannedJob
from cron2queue.text import to_text

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.crontab.schedule import Schedule
    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.engine import Move
    from cron2queue.generator.fidelity import Difference
    from cron2queue.generator.templating import Templates
    from cron2queue.plan.blocks import Block
    from cron2queue.plan.manifest import Source

CHANGING = MIGRATED | {Decision.GUARD, Decision.DROP}


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """One crontab as it was before any replacement, and what is known of the live one: its digest and its blocks.

    `user` is set where only crontab(1) may write it; `owner` is whose jobs it holds, where the lines themselves do not say.
    """

    file: CrontabFile
    live_sha256: str
    blocks: tuple[Block, ...]
    target: str | None
    user: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry that will be replaced: its move, its block and the files that must be there first.

    `note` says what is not as before, `remark` what other tools would make of the schedule.
    """

    move: Move
    block: Block
    needs: tuple[str, ...]
    note: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A line that is no entry, put right: an assignment, or what cron could not read at all."""

    path: str
    line: int
    block: Block
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Everything that a conversion decided. `refused` maps job names to the reason why the entry stays as it is."""

    changes: tuple[Change, ...]
    refused: Mapping[str, str]
    sources: tuple[Source, ...]
    crontabs: Mapping[str, bytes] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    mended: tuple[Mended, ...] = ()
    revived: frozenset[str] = frozenset()
    """Files that cron ignores today, and reads once their lines are put right."""
    to_apply: bool = True
    """Whether a live crontab is not yet as the plan wants it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a conversion works from. `dates` are those of replacements that an earlier run already planned; `repairs` and
    the sources of that earlier run are known by path.
    """

    plan: Plan
    originals: Sequence[Original]
    at: datetime
    zone: ZoneInfo
    templates: Templates
    folder: Path
    only: frozenset[str] = frozenset()
    dates: Mapping[str, tuple[str | None, date]] = field(default_factory=dict)
    repairs: Mapping[str, RepairedFile] = field(default_factory=dict)
    known: Mapping[str, Source] = field(default_factory=dict)
    proofs: dict[tuple[str, Schedule], list[Difference]] = field(default_factory=dict)

    def repaired(self, path: str) -> RepairedFile:
        """What can be put right in a file."""
        return self.repairs.get(path, NO_REPAIRS)

    def repair(self, job: PlannedJob, path: str, number: int) -> Repair | None:
        """What the line of an entry should be, where it is broken and a rule knows."""
        found = self.repaired(path)
        return (found.converted if job.decision in CHANGING else found.lines).get(number)

    def since(self, name: str, new: bytes | None) -> date:
        """When this new line of a job was planned first; today, if it was not."""
        planned = self.dates.get(name)
        return planned[1] if planned and planned[0] == (None if new is None else to_text(new)) else self.at.date()
