"""Which dialect and which kind a text is read with: as asked, else concluded, and then it says from what."""

from __future__ import annotations

from cron2queue.cli.reading.host import Host
from cron2queue.crontab.dialect import AUTO, Dialect, dialect_named
from cron2queue.crontab.kinds import Guess, dialect_of_text, kind_of_text
from cron2queue.crontab.lines import Kind
from cron2queue.errors import UsageError
from cron2queue.plan.blocks import restored
from cron2queue.record import Record


class Wanted(Record):
    """What was asked for on the command line; `auto` leaves it to the text."""

    dialect: str
    kind: str
    user: str | None

    def __post_init__(self) -> None:
        if self.dialect != AUTO:
            dialect_named(self.dialect)
        if self.kind not in (AUTO, *Kind):
            raise UsageError(f"unknown kind: {self.kind}", remedy="use system, user or auto", place="--kind")


def choose_dialect(wanted: Wanted, data: bytes, host: Host | None) -> tuple[Dialect, str | None]:
    """The dialect, and a note when it was concluded. `host`: where the text belongs, None when that is not known."""
    if wanted.dialect != AUTO:
        return dialect_named(wanted.dialect), None
    guess = (host.daemon() if host else None) or dialect_of_text(data)
    if guess is None:
        guess = Guess("debian", "neither the place nor the text points to a daemon")
    return dialect_named(guess.value), f"read as {guess.value}: {guess.why} (--dialect tells otherwise)"


def choose_kind(wanted: Wanted, data: bytes, place: Guess | None, dialect: Dialect) -> tuple[Kind, str | None]:
    """The kind, and a note when it was concluded, or when place and content do not agree."""
    if wanted.kind != AUTO:
        return Kind(wanted.kind), None
    if dialect.system_crontab is None and not dialect.system_folders:
        return Kind.USER, None
    content = kind_of_text(data) or kind_of_text(restored(data))  # where each line is switched off, as they were
    if place is not None:
        if content is None or content.value == place.value:
            return Kind(place.value), None
        return Kind(place.value), f"a {place.value} crontab by its place ({place.why}), but {content.why}"
    if content is not None:
        return Kind(content.value), f"read as a {content.value} crontab: {content.why} (--kind tells otherwise)"
    return Kind.USER, "read as a user crontab: no entry tells (--kind tells otherwise)"
