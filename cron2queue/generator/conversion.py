"""A plan turned into files: each entry through its engine, proved, and put into the new crontab; nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import Decision
from cron2queue.crontab.schedule import Calendar
from cron2queue.errors import UsageError
from cron2queue.generator.crontab_lines import is_moved, moved_line, new_line, observed_line, read_line
from cron2queue.generator.engine import CannotConvert, CronCommand, Engine, Move, Workshop, engine_named
from cron2queue.generator.fidelity import SPAN, Difference, differences, schedules_differ, second_opinion
from cron2queue.generator.rewriting import as_planned, rewrite
from cron2queue.plan.blocks import Block, physical_lines, replaced
from cron2queue.plan.manifest import Replacement, Source, digest
from cron2queue.plan.model import MIGRATED, Plan
from cron2queue.text import to_text

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.crontab.schedule import Schedule
    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.templating import Templates

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
class Draft:
    """Everything that a conversion decided. `refused` maps job names to the reason why the entry stays as it is."""

    changes: tuple[Change, ...]
    refused: Mapping[str, str]
    sources: tuple[Source, ...]
    crontabs: Mapping[str, bytes] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()

    def change(self, name: str) -> Change | None:
        """The replacement of a job's entry, or None."""
        return next((each for each in self.changes if each.move.job.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A broken line put right by the rule that found it."""

    line: bytes
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a conversion works from. `dates` are those of replacements that an earlier run already planned; `repairs` are
    known by entry, the sources of that earlier run by path.
    """

    plan: Plan
    originals: Sequence[Original]
    at: datetime
    zone: ZoneInfo
    templates: Templates
    folder: Path
    only: frozenset[str] = frozenset()
    dates: Mapping[str, tuple[str | None, date]] = field(default_factory=dict)
    repairs: Mapping[str, Repair] = field(default_factory=dict)
    known: Mapping[str, Source] = field(default_factory=dict)
    proofs: dict[tuple[str, Schedule], list[Difference]] = field(default_factory=dict)


def moves(plan: Plan, files: Sequence[CrontabFile]) -> Iterator[Move]:
    """Each planned job with its entry."""
    by_place = {(file.path, entry.number): (file, entry) for file in files for entry in file.entries}
    for job in plan.jobs:
        found = by_place.get((job.settings.source or "", job.settings.line or 0))
        if found:
            yield Move(job=job, file=found[0], entry=found[1])


def _prove_new_schedule(move: Move, request: Request, new: CronCommand, engine: Engine) -> tuple[bytes, str]:
    line, entry = new_line(move, new)
    if is_moved(move):
        return line, f"starts at another time, as the plan says: {move.entry.schedule_text} becomes {entry.schedule_text}"
    found = [] if move.entry.schedule == entry.schedule else _differ(move, entry.schedule, request)
    if found:
        raise CannotConvert("; ".join(map(str, found)))
    return line, ""


def _differ(move: Move, new: object, request: Request) -> list[object]:
    if getattr(move.entry.schedule, "random", False):
        return []
    return [*schedules_differ(move.entry.schedule, new, request.at, request.zone)]  # type: ignore[arg-type]


def _prove_target(move: Move, request: Request, engine: Engine) -> None:
    """The starts of a target with a clock of its own are those of cron; equal schedules are looked at once."""
    if getattr(move.entry.schedule, "random", False):
        return
    key = (engine.engine_name(), move.entry.schedule)
    if key not in request.proofs:
        end = request.at + SPAN
        old = move.entry.schedule.fires_between(request.at, end, request.zone)
        request.proofs[key] = differences(old, engine.fires(move, request.at, end, request.zone))
    found = request.proofs[key]
    if found:
        first = "; ".join(map(str, found))
        raise CannotConvert(
            f"{engine.engine_name()} would not start it as cron does: {first}", remedy=_way_out(move, request, engine)
        )


def _way_out(move: Move, request: Request, engine: Engine) -> str:
    other = rewrite(move, engine, request.at, request.zone)
    if other is None:
        return "move it out of the hour of the clock change, or leave it in cron"
    return f'with schedule = "{other}" in its table it would start alike; or leave it in cron'


def _new(move: Move, request: Request) -> tuple[bytes | None, tuple[str, ...], str]:
    if move.job.decision is Decision.DROP:
        return None, (), "switched off"
    if move.job.decision is Decision.FIX:
        return _repaired(move, request)
    if move.job.decision not in CHANGING:
        return _staying(move, request)
    engine = engine_named(move.job.engine)
    engine.refuse(move, request.plan)
    command = engine.cron_command(move, request.plan)
    if command is None:
        _prove_target(move, request, engine)
        return None, (), ""
    line, note = _prove_new_schedule(move, request, command, engine)
    return line, command.needs, note


def _staying(move: Move, request: Request) -> tuple[bytes, tuple[str, ...], str]:
    """An entry that stays, at another time or with its runs recorded, or both."""
    notes, line = [], move.entry.raw
    if is_moved(move):
        line = moved_line(move)
        notes.append(f"starts at another time, as the plan says: {move.entry.schedule_text} before")
    if request.plan.project.observe:
        line = observed_line(line, move, request.plan.project.python)
        notes.append("its runs are recorded; it starts and does what it did before")
    return line, (request.plan.project.python,) if request.plan.project.observe else (), "; ".join(notes)


def _recorded(move: Move, request: Request) -> bytes | None:
    """In shadow, the old line with the recorder before its command; None where that cannot be, or it has one already."""
    try:
        return observed_line(move.entry.raw, move, request.plan.project.python)
    except CannotConvert:
        return None


def _repaired(move: Move, request: Request) -> tuple[bytes, tuple[str, ...], str]:
    repair = request.repairs[move.job.settings.entry or ""]
    entry = read_line(repair.line, move)
    if entry is None or _differ(move, entry.schedule, request) or entry.user != move.entry.user:
        raise CannotConvert("the repaired line would not be read as one line with the same starts")
    return repair.line, (), f"put right ({repair.rule}); it starts at the same times as before"


def _changes_something(move: Move, request: Request) -> bool:
    if request.only and move.job.name not in request.only:
        return False
    if move.job.decision is Decision.FIX:
        return move.job.settings.entry in request.repairs
    observed = request.plan.project.observe and move.file.editable
    return move.job.decision in CHANGING or is_moved(move) or observed


def _change(move: Move, request: Request) -> Change:
    if not move.file.editable:
        raise CannotConvert(f"{move.file.path} is not a crontab; write a line for it in one, and convert that")
    if physical_lines(move.file.to_bytes())[move.entry.number - 1 :][:1] != [move.entry.raw]:
        raise CannotConvert("it is not one whole line of the file: this cron reads more or less than a line for it")
    if not move.file.loaded:
        raise CannotConvert(f"cron ignores the whole file today ({move.file.why}); repair that first")
    wanted = _wanted(move)
    new, needs, note = _new(wanted, request)
    if wanted is not move:
        note = f"starts at another time, as the plan says: {move.entry.schedule_text} before"
    name = move.job.name
    planned = request.dates.get(name)
    on = planned[1] if planned and planned[0] == (None if new is None else to_text(new)) else request.at.date()
    shadow = request.plan.project.shadow and move.job.migrated and new is not None
    recorded = _recorded(move, request) if shadow and request.plan.project.observe else None
    block = Block(name=name, on=on, old=move.entry.raw, new=new, shadow=shadow, recorded=recorded)
    return Change(move=wanted, block=block, needs=needs, note=note, remark=_remark(wanted, request))


def _wanted(move: Move) -> Move:
    """For a target with a clock of its own, the entry at the time that the plan wants; cron's own line is moved later."""
    converted = move.job.decision in MIGRATED or move.job.decision is Decision.GUARD
    if converted and is_moved(move) and not engine_named(move.job.engine).in_cron:
        return as_planned(move)
    return move


def _remark(move: Move, request: Request) -> str:
    """A second reading of the schedule, for whoever copies it to a tool that reads it so."""
    schedule = move.entry.schedule
    if not isinstance(schedule, Calendar) or schedule.random or schedule.never_fires:
        return ""
    return second_opinion(move.entry.schedule_text, schedule, request.at, request.zone) or ""


def _changes(request: Request) -> tuple[list[Change], dict[str, str]]:
    changes, refused = [], {}
    for move in moves(request.plan, [each.file for each in request.originals]):
        if not _changes_something(move, request):
            continue
        try:
            changes.append(_change(move, request))
        except UsageError as trouble:
            refused[move.job.name] = f"{trouble.message} ({trouble.remedy})" if trouble.remedy else trouble.message
    return changes, refused


def _sources(request: Request, changes: Sequence[Change]) -> tuple[list[Source], dict[str, bytes]]:
    sources, crontabs = [], {}
    editable = [each for each in request.originals if each.file.editable]
    for number, original in enumerate(editable, start=1):
        path = original.file.path
        own = [each for each in changes if each.move.file.path == path]
        output = "crontab.new" if len(editable) == 1 else f"crontabs/{number:02d}.new"
        crontabs[output] = replaced(original.file.to_bytes(), [(each.move.entry.number, each.block) for each in own])
        sources.append(
            Source(
                path=path,
                dialect=original.file.dialect,
                kind=str(original.file.kind),
                sha256=_sha256(original, request.known.get(path)),
                original=digest(original.file.to_bytes()),
                output=output,
                target=_target(original, request.folder),
                user=original.user,
                replacements=tuple(_replacement(each) for each in own),
            )
        )
    return sources, crontabs


def _target(original: Original, folder: Path) -> str | None:
    """As it was named: a relative path is written from the plan's folder on, so that the two can move together."""
    if original.target is None or Path(original.file.path).is_absolute():
        return original.target
    return os.path.relpath(original.target, folder)


def _sha256(original: Original, known: Source | None) -> str:
    """The state to compare with: the one noted before, while nothing but that plan's own lines has changed since."""
    if known is None or known.original != digest(original.file.to_bytes()):
        return original.live_sha256
    ours = {each.block().content for each in known.replacements}
    return known.sha256 if {block.content for block in original.blocks} <= ours else original.live_sha256


def _replacement(change: Change) -> Replacement:
    block = change.block
    return Replacement(
        name=block.name,
        line=change.move.entry.number,
        old=to_text(block.old),
        new=None if block.new is None else to_text(block.new),
        on=block.on.isoformat(),
        shadow=block.shadow,
        recorded=None if block.recorded is None else to_text(block.recorded),
        needs=change.needs,
        user=change.move.job.settings.user,
    )


def _artifacts(request: Request, changes: Sequence[Change]) -> list[Artifact]:
    by_engine: dict[str, list[Move]] = {}
    for change in changes:
        if change.move.job.decision in MIGRATED or change.move.job.decision is Decision.GUARD:
            by_engine.setdefault(change.move.job.engine, []).append(change.move)
    made: list[Artifact] = []
    for name, own in sorted(by_engine.items()):
        workshop = Workshop(plan=request.plan, moves=own, templates=request.templates, zone=request.zone, at=request.at)
        made.extend(engine_named(name).artifacts(workshop))
    return made


def draft(request: Request) -> Draft:
    """Turn every entry that changes into its target, or say why it stays as it is."""
    changes, refused = _changes(request)
    sources, crontabs = _sources(request, changes)
    return Draft(
        changes=tuple(changes),
        refused=refused,
        sources=tuple(sources),
        crontabs=crontabs,
        artifacts=tuple(_artifacts(request, changes)),
    )
