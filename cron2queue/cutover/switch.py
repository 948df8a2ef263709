"""One change of one live crontab: looked at, backed up, compared again, written, read back; and every step in the journal."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.cutover.journal import Journal, Step, as_json, next_number
from cron2queue.errors import Refused, TryAgain
from cron2queue.plan.blocks import found_blocks
from cron2queue.plan.manifest import digest

if TYPE_CHECKING:
    from cron2queue.cutover.live import Live
    from cron2queue.plan.folder import Folder
    from cron2queue.plan.manifest import Replacement, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutover:
    """A change that is about to be made. `names` are the entries that it touches, `touched` those that it puts in place."""

    kind: str
    source: Source
    live: Live
    before: bytes
    after: bytes
    names: tuple[str, ...] = ()
    touched: tuple[Replacement, ...] = ()
    remarks: tuple[str, ...] = field(default=())

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.before != self.after


@contextmanager
def sole_use(folder: Folder) -> Iterator[None]:
    """Only one apply or rollback at a time works on a plan's folder. Raises TryAgain while another does."""
    folder.make("cutover", 0o700)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder.path / "cutover/lock", flags, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TryAgain("another apply or rollback of this plan is at work", remedy="wait until it has ended") from None
        yield
    finally:
        os.close(descriptor)


def loads(source: Source, data: bytes) -> bool:
    """Whether this cron takes a text at all."""
    return parse(data, path=source.path, dialect=dialect_named(source.dialect), kind=Kind(source.kind)).loaded


def still_loads(cutover: Cutover) -> None:
    """Refuse a text that this cron would ignore as a whole, when it takes the present one."""
    if loads(cutover.source, cutover.before) and not loads(cutover.source, cutover.after):
        remedy = "convert again" if cutover.kind == "apply" else "what was put right stays; by hand, take it from the backup"
        raise Refused("cron would ignore the whole new crontab", place=cutover.live.name, remedy=remedy)


def blocks_in(text: bytes) -> Mapping[str, bytes]:
    """The replaced entries of a text, by name."""
    return {block.name: block.content for block in found_blocks(text)}


def perform(cutover: Cutover, journal: Journal, at: datetime) -> Step:
    """Make the change. Raises Refused, with the crontab as it was, when anything is not as it was a moment ago."""
    number = next_number(journal.steps())
    step = Step(
        number=number,
        kind=cutover.kind,
        state="begun",
        target=cutover.live.name,
        at=at.isoformat(timespec="seconds"),
        before=digest(cutover.before),
        after=digest(cutover.after),
        backup=journal.keep(f"{number:04d}.crontab", cutover.before),
        result=journal.keep(f"{number:04d}.crontab.new", cutover.after),
        blocks=as_json(blocks_in(cutover.after)),
    )
    journal.record(step)
    try:
        cutover.live.write(cutover.after, expected=cutover.before)
    except Refused:
        # Whoever writes may have been stopped after the change: only the crontab itself tells whether it was made.
        if cutover.live.read() != cutover.after:
            journal.record(step.ended("void"))
            raise
    _verify(cutover, step, journal)
    return journal.record(step.ended("done"))


def _verify(cutover: Cutover, step: Step, journal: Journal) -> None:
    """What is read back is what was written."""
    now = cutover.live.read()
    if now == cutover.after:
        return
    if now != cutover.before:
        place = f"{cutover.live.name}, backup {step.backup}"
        raise Refused("the crontab was changed by somebody else at the same moment", place=place, remedy="compare by hand")
    journal.record(step.ended("void"))
    remedy = "see whether something puts it back (a deployment, etckeeper), then apply again"
    raise Refused("the crontab is still the old one after writing", remedy=remedy, place=cutover.live.name)
