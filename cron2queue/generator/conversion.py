"""A plan turned into files: each entry through its engine, proved, and put into the new crontab; nothing is written here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cron2queue.analyser.verdicts import BECOMES, Decision
from cron2queue.crontab.lines import entry_ids, place_of
from cron2queue.crontab.schedule import Calendar
from cron2queue.crontab.second_readers import REJECTS, SAME, second_readings
from cron2queue.errors import UsageError
from cron2queue.generator.crontab_lines import is_moved, moved_line, new_line, observed_line, read_line
from cron2queue.generator.drafts import CHANGING, Change, Draft, Request
from cron2queue.generator.engine import CannotConvert, CronCommand, Engine, Move, Workshop, delay_minutes, engine_named
from cron2queue.generator.fidelity import SPAN, differences, schedules_differ
from cron2queue.generator.new_crontabs import differ_from_live, mended_lines, sources_and_crontabs
from cron2queue.generator.rewriting import as_planned, rewrite
from cron2queue.plan.blocks import Block, physical_lines
from cron2queue.plan.model import MIGRATED

if TYPE_CHECKING:
    from cron2queue.generator.artifacts import Artifact
    from cron2queue.generator.repairing import Repair


def moves(request: Request) -> Iterator[Move]:
    """Each planned job with its entry; with the one that its line should be, where it can be put right."""
    files = [each.file for each in request.originals]
    ids = entry_ids(files)
    by_id = {(file.path, ids[place_of(file.path, entry)]): (file, entry) for file in files for entry in file.entries}
    for job in request.plan.jobs:
        found = by_id.get((job.settings.source or "", job.settings.entry or ""))
        if found:
            file, entry = found
            repair = request.repair(job, file.path, entry.number)
            good = repair.entry if repair else None
            yield Move(job=job, file=file, entry=good or entry, broken=entry.raw if good else None)


def _prove_new_schedule(move: Move, request: Request, new: CronCommand) -> tuple[bytes, str]:
    line, entry = new_line(move, new)
    if is_moved(move):
        return line, f"starts at another time, as the plan says: {move.entry.schedule_text} becomes {entry.schedule_text}"
    found = [] if move.entry.schedule == entry.schedule else _differ(move, entry.schedule, request)
    if found:
        raise CannotConvert("; ".join(map(str, found)), remedy="leave it as it is")
    return line, ""


def _differ(move: Move, new: object, request: Request) -> list[object]:
    if getattr(move.entry.schedule, "random", False):
        return []
    return [*schedules_differ(move.entry.schedule, new, request.at, request.zone)]  # type: ignore[arg-type]


def _prove_target(move: Move, request: Request, engine: Engine) -> None:
    """The starts of a target with a clock of its own are those of cron; equal schedules are looked at once."""
    if (minutes := delay_minutes(move)) and not engine.draws:
        said = f"cron starts it up to {minutes} minutes later, by RANDOM_DELAY, and {engine.engine_name()} would not"
        raise CannotConvert(said, remedy="leave it in cron")
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
        return None, (), BECOMES[Decision.DROP]
    if move.job.decision not in CHANGING:
        return _staying(move, request)
    engine = engine_named(move.job.engine)
    engine.refuse(move, request.plan)
    command = engine.cron_command(move, request.plan)
    if command is None:
        _prove_target(move, request, engine)
        return None, engine.units(move, request.plan), ""
    line, note = _prove_new_schedule(move, request, command)
    return line, command.needs, note


def _repair(move: Move, request: Request) -> Repair | None:
    return request.repair(move.job, move.file.path, move.entry.number)


def _staying(move: Move, request: Request) -> tuple[bytes, tuple[str, ...], str]:
    """An entry that stays: put right, at another time, or with its runs recorded."""
    notes, line = [], move.entry.raw
    repair = _repair(move, request)
    if repair:
        notes.append(f"put right ({', '.join(repair.rules)}); {_effect(move)}")
    if is_moved(move):
        line = moved_line(move)
        notes.append(f"starts at another time, as the plan says: {move.entry.schedule_text} before")
    if request.plan.project.observe:
        line = observed_line(line, move, request.plan.project.python)
        notes.append("its runs are recorded; it starts and does what it did before")
    return line, (request.plan.project.python,) if request.plan.project.observe else (), "; ".join(notes)


def _effect(move: Move) -> str:
    if move.file.loaded:
        return "it starts at the same times as before"
    return "cron ignores the whole file today, and reads it again when all of its broken lines are put right"


def _recorded(move: Move, request: Request) -> bytes | None:
    """In shadow, the old line with the recorder before its command; None where that cannot be, or it has one already."""
    try:
        return observed_line(move.entry.raw, move, request.plan.project.python)
    except CannotConvert:
        return None


def _changes_something(move: Move, request: Request) -> bool:
    if request.only and move.job.name not in request.only:
        return False
    if move.job.decision in CHANGING or _repair(move, request):
        return True
    return move.job.decision is not Decision.FIX and (is_moved(move) or (request.plan.project.observe and move.file.editable))


def _change(move: Move, request: Request, lines: Sequence[bytes]) -> Change:
    """`lines` are the physical ones of its file."""
    if not move.file.editable:
        raise CannotConvert(f"{move.file.path} is not a crontab", remedy="write a line for it in one, and convert that")
    if lines[move.entry.number - 1 : move.entry.number] != [move.old]:
        text = "it is not one whole line of the file: this cron reads more or less than a line for it"
        raise CannotConvert(text, remedy="write it as one whole line")
    if not move.file.loaded and not request.repaired(move.file.path).revived:
        remedy = "repair that first: cron2queue audit names its broken lines"
        raise CannotConvert(f"cron ignores the whole file today ({move.file.why})", remedy=remedy)
    wanted = _wanted(move)
    new, needs, note = _new(wanted, request)
    if wanted is not move:
        note = f"starts at another time, as the plan says: {move.entry.schedule_text} before"
    name = move.job.name
    on = request.since(name, new)
    shadow = request.plan.project.shadow and move.job.migrated and new is not None
    recorded = _recorded(move, request) if shadow and request.plan.project.observe else None
    repair = _repair(move, request)
    repaired = repair is not None and new == repair.new
    block = Block(name=name, on=on, old=move.old, new=new, shadow=shadow, recorded=recorded, repaired=repaired)
    first = f"its line is put right first ({', '.join(repair.rules)})" if repair and new is not None and not repaired else ""
    remark = "; ".join(filter(None, [first, _remark(wanted, new)]))
    return Change(move=wanted, block=block, needs=needs, note=note, remark=remark)


def _wanted(move: Move) -> Move:
    """For a target with a clock of its own, the entry at the time that the plan wants; cron's own line is moved later."""
    converted = move.job.decision in MIGRATED or move.job.decision is Decision.GUARD
    if converted and is_moved(move) and not engine_named(move.job.engine).in_cron:
        return as_planned(move)
    return move


def _remark(move: Move, line: bytes | None) -> str:
    """How croniter and python-crontab read the new line, or the old one where none is left, if not as its daemon does."""
    entry = move.entry if line is None else read_line(line, move)
    if entry is None or not isinstance(entry.schedule, Calendar) or entry.schedule.random:
        return ""
    readings = [(tool, said) for tool, said in second_readings(entry) if said != SAME]
    return "; ".join(f"{tool} {'rejects it' if said == REJECTS else said}" for tool, said in readings)


def _changes(request: Request) -> tuple[list[Change], dict[str, str]]:
    changes, refused = [], {}
    lines = {each.file.path: physical_lines(each.file.to_bytes()) for each in request.originals}
    for move in moves(request):
        if not _changes_something(move, request):
            continue
        try:
            changes.append(_change(move, request, lines[move.file.path]))
        except UsageError as trouble:
            refused[move.job.name] = f"{trouble.message} ({trouble.remedy})" if trouble.remedy else trouble.message
    return changes, refused


def _artifacts(request: Request, changes: Sequence[Change]) -> list[Artifact]:
    by_engine: dict[str, list[Move]] = {}
    for change in changes:
        if change.move.job.decision in MIGRATED or change.move.job.decision is Decision.GUARD:
            engine = change.move.job.engine
            by_engine.setdefault(engine_named(engine).files_of or engine, []).append(change.move)
    made: list[Artifact] = []
    for name, own in sorted(by_engine.items()):
        workshop = Workshop(plan=request.plan, moves=own, templates=request.templates, zone=request.zone, at=request.at)
        made.extend(engine_named(name).artifacts(workshop))
    return made


def draft(request: Request) -> Draft:
    """Turn every entry that changes into its target, or say why it stays as it is."""
    changes, refused = _changes(request)
    mended = tuple(mended_lines(request))
    sources, crontabs = sources_and_crontabs(request, changes, mended)
    return Draft(
        changes=tuple(changes),
        refused=refused,
        sources=tuple(sources),
        crontabs=crontabs,
        artifacts=tuple(_artifacts(request, changes)),
        mended=mended,
        revived=frozenset(path for path, each in request.repairs.items() if each.revived),
        to_apply=differ_from_live(request, crontabs),
    )
