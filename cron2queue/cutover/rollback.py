"""The way back: the old text where nothing else was touched, otherwise each replaced line alone, keeping later edits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from cron2queue.cutover.journal import Journal, Step, standing
from cron2queue.cutover.live import live_crontab
from cron2queue.cutover.preflight import is_unit
from cron2queue.cutover.switch import Cutover, loads
from cron2queue.errors import Refused, UsageError
from cron2queue.plan.blocks import found_blocks, pieces, restored
from cron2queue.plan.manifest import digest
from cron2queue.runtime.plan_tables import did_you_mean

if TYPE_CHECKING:
    from cron2queue.plan.folder import Folder
    from cron2queue.plan.manifest import Manifest, Source


class EditedBlock(Refused):
    """A replaced line was edited by hand since; `text` is the crontab as it stands, `applied` as it was left (if known)."""

    def __init__(self, name: str, applied: bytes | None, text: bytes, place: str) -> None:
        super().__init__(
            f"the lines of {name} were edited since apply, so that the old line cannot be put back without losing the edit",
            place=place,
            remedy="undo the edit or put the old line back by hand; it stands as a comment below its marker",
        )
        self.applied = applied
        self.text = text


def _applied(steps: list[Step]) -> Mapping[str, bytes]:
    """The blocks that stand in the crontab as far as the journal knows."""
    last = steps[-1] if steps else None
    blocks = last.blocks if last else {}
    return {name: content.encode("utf-8", "surrogateescape") for name, content in blocks.items()}


def _unbroken(steps: list[Step]) -> bool:
    """Whether nobody edited the crontab between the steps."""
    return all(one.after == following.before for one, following in pairwise(steps))


def _repairs(steps: list[Step]) -> frozenset[bytes]:
    """The lines that were put right: in the way of none, until what was built on them is gone."""
    contents = (content.encode("utf-8", "surrogateescape") for step in steps for content in step.blocks.values())
    return frozenset(filter(_is_repair, contents))


def _is_repair(content: bytes) -> bool:
    return any(block.repaired for block in found_blocks(content))


def _chosen(applied: Mapping[str, bytes], only: Collection[str]) -> dict[str, bytes]:
    for name in only:
        if name not in applied:
            raise UsageError(f"{name!r} was not applied", remedy=did_you_mean(name, frozenset(applied)))
    return {name: content for name, content in applied.items() if not only or name in only}


def _merged(text: bytes, blocks: Mapping[str, bytes], step: Step, journal: Journal) -> bytes:
    """The text with these blocks undone; everything else stays, byte for byte."""
    cut = list(pieces(text))
    for name, content in blocks.items():
        if sum(piece.block is not None and piece.content == content for piece in cut) != 1:
            raise EditedBlock(name, journal.result(step), text, step.target)
    undone = frozenset(blocks.values())
    return b"".join(piece.block.old if piece.block and piece.content in undone else piece.content for piece in cut)


def cutover_for(source: Source, journal: Journal, only: Collection[str] = ()) -> Cutover | None:
    """The change that goes back, or None when nothing of this crontab was applied. Raises EditedBlock."""
    live = live_crontab(source, journal.folder)
    text = live.read()
    steps = standing(journal.settle(live.name, text))
    if not steps:
        return None
    blocks = _chosen(_applied(steps), only)
    untouched = digest(text) == steps[-1].after
    remarks = [] if untouched else ["the crontab was edited since apply; those edits stay"]
    after = _before_all(steps, journal) if untouched and blocks == _applied(steps) else None
    if after is None:
        after = _merged(text, blocks, steps[-1], journal)
        after = restored(after, _repairs(steps)) if blocks == _applied(steps) else after
    rest = {name: content for name, content in blocks.items() if not _is_repair(content)}
    if rest and loads(source, text) and not loads(source, after):
        after, blocks = _merged(text, rest, steps[-1], journal), rest
        remarks.append("what was put right stays: without it, cron would ignore the whole crontab")
    units = [need for each in source.replacements if each.name in blocks for need in each.needs if is_unit(need)]
    if units:
        remarks.append(f"both start them until you run, right after this: systemctl disable --now {' '.join(units)}")
    return Cutover(
        kind="rollback", source=source, live=live, before=text, after=after, names=tuple(blocks), remarks=tuple(remarks)
    )


def _before_all(steps: list[Step], journal: Journal) -> bytes | None:
    """The text before the first step, where nothing else has changed since."""
    first = journal.backup(steps[0]) if _unbroken(steps) else None
    return None if first is None or found_blocks(first) else first


def cutovers(manifest: Manifest, folder: Folder, only: Collection[str] = ()) -> list[Cutover]:
    """The changes that go back, of all crontabs of a plan. Raises UsageError when nothing was applied."""
    journal = Journal(folder)
    found = [cutover_for(source, journal, only) for source in manifest.sources]
    changing = [each for each in found if each is not None and each.changes]
    if not changing:
        raise UsageError(
            "nothing was applied from this folder, or all of it was taken back",
            place=str(folder.path),
            remedy=f"cron2queue diff {folder.path} shows what apply would change",
        )
    return changing
