"""The new crontabs: every changed line in its place, and what apply needs to know to put it there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.generator.drafts import Mended
from cron2queue.plan.blocks import Block, replaced
from cron2queue.plan.manifest import Replacement, Source, digest
from cron2queue.text import to_text

if TYPE_CHECKING:
    from cron2queue.generator.drafts import Change, Original, Request


def mended_lines(request: Request) -> Iterator[Mended]:
    """Lines that are no entries. They have no name of their own, so that a run for named entries leaves them alone."""
    taken = {job.name for job in request.plan.jobs}
    for original in () if request.only else request.originals:
        path, entries = original.file.path, {entry.number for entry in original.file.entries}
        for number, repair in request.repaired(path).lines.items():
            if number not in entries:
                name = f"line-{number}" if f"line-{number}" not in taken else f"broken-line-{number}"
                block = Block(name=name, on=request.since(name, repair.new), old=repair.old, new=repair.new, repaired=True)
                yield Mended(path=path, line=number, block=block, rules=repair.rules)


def sources_and_crontabs(
    request: Request, changes: Sequence[Change], mended: Sequence[Mended]
) -> tuple[list[Source], dict[str, bytes]]:
    """Each crontab with its replacements, for apply, and its new text by the name of the file that shows it."""
    sources, crontabs = [], {}
    editable = [each for each in request.originals if each.file.editable]
    for number, original in enumerate(editable, start=1):
        path = original.file.path
        own = [each for each in changes if each.move.file.path == path]
        lines = [each for each in mended if each.path == path]
        output = "crontab.new" if len(editable) == 1 else f"crontabs/{number:02d}.new"
        blocks = [*((each.move.entry.number, each.block) for each in own), *((each.line, each.block) for each in lines)]
        crontabs[output] = replaced(original.file.to_bytes(), blocks)
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
                replacements=(*map(_replacement, own), *map(_mending, lines)),
            )
        )
    return sources, crontabs


def differ_from_live(request: Request, crontabs: Mapping[str, bytes]) -> bool:
    """Whether any of the new texts is another than the live one."""
    live = [each.live_sha256 for each in request.originals if each.file.editable]
    return any(digest(text) != sha256 for text, sha256 in zip(crontabs.values(), live, strict=True))


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
        repaired=block.repaired,
        needs=change.needs,
        user=change.move.job.settings.user,
    )


def _mending(mended: Mended) -> Replacement:
    block = mended.block
    old, new = to_text(block.old), to_text(block.new or b"")
    return Replacement(name=block.name, line=mended.line, old=old, new=new, on=block.on.isoformat(), repaired=True)
