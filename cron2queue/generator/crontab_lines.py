"""New crontab lines: schedule and user as they stand, another command, and read back by the daemon's own rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cron2queue.crontab.dialect import Context, dialect_named
from cron2queue.crontab.lines import Assignment, Entry, Kind, place_of
from cron2queue.crontab.schedule import Calendar
from cron2queue.evidence.wrapping import unwrapped, wrap
from cron2queue.generator.engine import CannotConvert
from cron2queue.generator.shell import SCRIPT, NotWritable, cron_command, sh_words
from cron2queue.plan.blocks import ended
from cron2queue.text import to_bytes, to_text

if TYPE_CHECKING:
    from cron2queue.crontab.schedule import Schedule
    from cron2queue.generator.engine import CronCommand, Move

SCHEDULE = "write one that this cron reads"
BY_HAND = "leave it as it is: cron's log tells of its starts"


def _forms(command: CronCommand, *, percent: bool) -> Iterator[str]:
    """The ways to write a command; which one is right is the daemon's affair."""
    trouble: NotWritable | None = None
    for doubled in (False, True):
        try:
            yield cron_command(command.command, command.stdin, percent=percent, doubled=doubled)
        except NotWritable as refused:
            trouble = refused
    if trouble:
        raise trouble


def is_moved(move: Move) -> bool:
    """Whether the plan wants other starts than the crontab has; a plan that says nothing of them wants these."""
    return move.job.settings.schedule not in (None, move.entry.schedule_text)


def _before_command(move: Move) -> str:
    """Everything of the line that stands before the command, with the plan's schedule."""
    text = to_text(move.entry.raw)[: move.entry.command_column - 1]
    if not is_moved(move):
        return text
    wanted = move.job.settings.schedule or ""
    # The fields may stand apart by any blanks.
    written = re.compile(r"[ \t]+".join(map(re.escape, move.entry.schedule_text.split())))
    if any(character in wanted for character in "\r\n\0") or len(written.findall(text)) != 1:
        raise CannotConvert("the plan's new schedule cannot be put into the line", remedy="change the line itself")
    return written.sub(lambda _: wanted, text, count=1)


def moved_line(move: Move) -> bytes:
    """The line at another time, its command byte for byte. Raises CannotConvert when cron would not read it so."""
    raw = to_text(move.entry.raw)
    line = ended(to_bytes(_before_command(move) + raw[move.entry.command_column - 1 :]))
    entry, old = read_line(line, move), move.entry
    if entry is None or (entry.command, entry.stdin, entry.user) != (old.command, old.stdin, old.user):
        raise CannotConvert(
            f"{move.job.settings.schedule!r} is not read by {move.file.dialect} cron as a schedule", remedy=SCHEDULE
        )
    return line


def observed_line(line: bytes, move: Move, python: str) -> bytes:
    """The line with its command started through the recorder. Raises CannotConvert when it cannot be wrapped."""
    entry = read_line(line, move)
    if entry is None:
        raise CannotConvert("the line cannot be read by itself, so that its runs cannot be recorded", remedy=BY_HAND)
    one = replace(move.file, lines=(entry,))
    ids = {place_of(one.path, entry): move.job.settings.entry or entry.fingerprint}
    wrapped = wrap(one, ids, wrapper=sh_words(python, "-m", "cron2queue.evidence.recorder"))
    made = read_line(wrapped.data, move)
    if wrapped.left or made is None or unwrapped(made.command) is None:
        raise CannotConvert(
            wrapped.left[0] if wrapped.left else "its runs cannot be recorded: it is recorded already", remedy=BY_HAND
        )
    if (made.stdin, made.user) != (entry.stdin, entry.user) or not same_schedule(entry.schedule, made.schedule):
        raise CannotConvert("with the recorder before it, cron would read the line differently", remedy=BY_HAND)
    return wrapped.data


def same_schedule(old: Schedule, new: Schedule) -> bool:
    """Equal, or drawn at random from equal possibilities."""
    if isinstance(old, Calendar) and isinstance(new, Calendar) and old.random and new.random:
        return old.possible == new.possible
    return old == new


def read_line(line: bytes, move: Move) -> Entry | None:
    """The one entry that the daemon makes of a line beneath the assignments above it, of which some move its starts.

    None when it makes anything else of it.
    """
    dialect = dialect_named(move.file.dialect)
    kind = Kind(move.file.kind)
    above = [ended(each.raw) for each in move.file.lines if isinstance(each, Assignment) and each.number < move.entry.number]
    text = b"".join([*above, line])
    reading = dialect.read(text, Context(kind=kind, user=move.entry.user if kind is Kind.USER else None))
    made = reading.lines[len(above) :]
    return made[0] if reading.loaded and len(made) == 1 and isinstance(made[0], Entry) else None


def _as_meant(entry: Entry, move: Move, command: CronCommand) -> bool:
    old = move.entry
    unchanged = not is_moved(move)
    return (
        (entry.command, entry.stdin, entry.user) == (command.command, command.stdin, old.user)
        and (entry.quiet, entry.options) == (old.quiet, old.options)
        and (not unchanged or same_schedule(old.schedule, entry.schedule))
        and not entry.misread
    )


def new_line(move: Move, command: CronCommand) -> tuple[bytes, Entry]:
    """The physical line, and how it is read. Raises CannotConvert when no form of it is read as meant."""
    percent = dialect_named(move.file.dialect).percent
    before = _before_command(move)
    try:
        for form in _forms(command, percent=percent):
            line = to_bytes(f"{before}{form}\n")
            entry = read_line(line, move)
            if entry is not None and _as_meant(entry, move, command):
                return line, entry
    except NotWritable as trouble:
        raise CannotConvert(trouble.message, remedy=trouble.remedy) from None
    raise CannotConvert(f"no form of the new line is read by {move.file.dialect} cron as it is meant", remedy=SCRIPT)
