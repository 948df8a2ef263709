"""The evidence that a command was given: logs, a journal, a recording."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cron2queue.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.evidence.book import EvidenceBook
    from cron2queue.evidence.runs import Run


class Given(Protocol):
    """The options of a command that takes evidence, as typed."""

    @property
    def logs(self) -> Sequence[str] | None:
        """Files, folders or `-`."""

    @property
    def journal(self) -> str | None:
        """A file, or `live`."""

    @property
    def observations(self) -> Path | None:
        """What observe has recorded."""


def checked_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    """Further regular expressions for output that says there was nothing to do; UsageError for what is none."""
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as wrong:
            remedy = "put a backslash before signs like ( [ * +"
            raise UsageError(f"--nothing-to-do {pattern!r} is no regular expression: {wrong}", remedy=remedy) from wrong
    return tuple(patterns)


def book_of(
    given: Given,
    files: Sequence[CrontabFile],
    zone: ZoneInfo,
    at: datetime,
    listen: Callable[[Run], None] | None = None,
    nothing_to_do: Sequence[str] = (),
) -> EvidenceBook:
    """What was measured; a bar is drawn on a terminal meanwhile. Without any evidence its readers are not even loaded.

    `listen` is called with each run as it is found. `nothing_to_do`: see `checked_patterns`.
    """
    checked_patterns(nothing_to_do)
    from cron2queue.evidence.book import EvidenceBook

    if not (given.logs or given.journal or given.observations):
        return EvidenceBook.empty("no log, journal or recording was given")
    from cron2queue.cli.progress import Bar
    from cron2queue.evidence.gathering import gather

    bar = Bar("reading logs")
    try:
        return gather(
            [Path(each) for each in given.logs or []],
            journal=None if given.journal is None else Path(given.journal),
            observations=given.observations,
            files=files,
            zone=zone,
            at=at,
            progress=bar,
            listen=listen,
            nothing_to_do=nothing_to_do,
        )
    finally:
        bar.close()
