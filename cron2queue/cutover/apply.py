"""What apply would change: the live crontab with the plan's replacements, all of them or only some."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from cron2queue.cutover.journal import Journal
from cron2queue.cutover.live import Live, live_crontab
from cron2queue.cutover.preflight import is_unit
from cron2queue.cutover.switch import Cutover, blocks_in, loads
from cron2queue.errors import Refused, UsageError
from cron2queue.plan.blocks import Block, numbered_blocks, physical_lines, replaced, restored
from cron2queue.plan.manifest import digest
from cron2queue.runtime.plan_tables import did_you_mean

if TYPE_CHECKING:
    from cron2queue.plan.folder import Folder
    from cron2queue.plan.manifest import Manifest, Replacement, Source


def _check_names(manifest: Manifest, only: Collection[str], standing: Collection[str]) -> None:
    known = {*standing, *(each.name for source in manifest.sources for each in source.replacements)}
    for name in only:
        if name in manifest.refused:
            raise Refused(
                f"{name} was refused by convert: {manifest.refused[name]}", remedy="change its plan, then convert again"
            )
        if name not in known:
            raise UsageError(f"the plan changes no entry {name!r}", remedy=did_you_mean(name, frozenset(known)))


def _unchanged(source: Source, live: Live, text: bytes, journal: Journal) -> None:
    """The live crontab is the one that was converted, or what an earlier step of this plan made of it."""
    now = digest(text)
    steps = journal.settle(live.name, text)
    ours = {source.sha256, *(step.after for step in steps if step.state == "done")}
    if now not in ours:
        raise Refused(
            "the crontab has changed since the plan was made",
            place=live.name,
            remedy="run convert again; it keeps your edits of the plan",
        )


def _blocks(source: Source, text: bytes, only: Collection[str]) -> list[tuple[int, Block]]:
    """The blocks that are to stand afterwards: those of the plan, or with `only` its named ones and the others as they are."""
    wanted = [(each.line, each.block()) for each in source.replacements if not only or each.name in only]
    if not only:
        return wanted
    return wanted + [(line, block) for line, block in numbered_blocks(text, source.repairs) if block.name not in only]


def _check_lines(original: bytes, blocks: list[tuple[int, Block]], live: Live) -> None:
    lines = physical_lines(original)
    for number, block in blocks:
        if number > len(lines) or lines[number - 1].rstrip(b"\n") != block.old.rstrip(b"\n"):
            raise Refused(
                f"line {number} is not the line of {block.name} any more", place=live.name, remedy="run convert again"
            )


def _touched(source: Source, only: Collection[str]) -> tuple[Replacement, ...]:
    return tuple(each for each in source.replacements if not only or each.name in only)


def cutover_for(source: Source, journal: Journal, only: Collection[str] = ()) -> Cutover:
    """The change of one crontab. Raises Refused when the crontab is not the one that was converted."""
    live = live_crontab(source, journal.folder)
    text = live.read()
    _unchanged(source, live, text, journal)
    original = restored(text, source.repairs)
    blocks = _blocks(source, text, only)
    _check_lines(original, blocks, live)
    touched = _touched(source, only)
    wanted, stood = {block.name for _, block in blocks}, blocks_in(text)
    restoring = [block.name for _, block in numbered_blocks(text, source.repairs) if block.name not in wanted]
    after = replaced(original, blocks)
    names = (*(each.name for each in touched if stood.get(each.name) != each.block().content), *restoring)
    remarks = [*_units(touched, names)]
    if not loads(source, text) and loads(source, after):
        remarks.append("cron ignores this crontab today: with this change all of its entries run")
    return Cutover(
        kind="apply",
        source=source,
        live=live,
        before=text,
        after=after,
        remarks=tuple(remarks),
        names=names,
        touched=touched,
    )


def _units(touched: Collection[Replacement], names: Collection[str]) -> Iterator[str]:
    """Where a timer takes over, the line and the timer must change in the same minute."""
    units = [need for each in touched if each.name in names for need in each.needs if is_unit(need)]
    if units:
        yield f"nothing starts them until you run, right after this: systemctl enable --now {' '.join(units)}"


def cutovers(manifest: Manifest, folder: Folder, only: Collection[str] = ()) -> list[Cutover]:
    """The changes of all crontabs of a plan that have any; an entry that the plan now leaves alone gets its old line back."""
    journal = Journal(folder)
    steps = journal.steps()
    standing = {name for step in steps for name in step.blocks}
    _check_names(manifest, only, standing)
    reached = {step.target for step in steps}
    found = [
        cutover_for(source, journal, only)
        for source in manifest.sources
        if source.replacements or (_reachable(source) and live_crontab(source, folder.path).name in reached)
    ]
    return [each for each in found if each.changes]


def _reachable(source: Source) -> bool:
    return source.user is not None or source.target is not None
