"""What is said of sources and evidence before anything is judged: what could not be read, is no crontab, or holds nothing."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.cli.reading.opening import Unreadable
from cron2queue.cli.sources import Sources
from cron2queue.cli.trouble import say

if TYPE_CHECKING:
    from cron2queue.evidence.book import EvidenceBook

_SHOWN = 5


def _unread(path: Path) -> Unreadable | None:
    try:
        path.stat()
        reason = None if os.access(path, os.R_OK) else os.strerror(errno.EACCES)
    except OSError as error:
        reason = error.strerror
    return None if reason is None else Unreadable(str(path), reason, "name a log, journal or recording that you may read")


def with_evidence(sources: Sources, logs: list[str] | None, journal: str | None, observations: Path | None) -> Sources:
    """The same, with evidence that was named and cannot be opened among what could not be read."""
    recorded = None if observations is None else str(observations)
    named = [*(logs or []), None if journal == "live" else journal, recorded]
    unread = [_unread(Path(each)) for each in named if each is not None and each != "-"]
    return sources.but(unreadable=(*sources.unreadable, *(each for each in unread if each is not None)))


def tell_unreadable(sources: Sources) -> None:
    """Say on stderr what could not be read, a paragraph each, with the remedy."""
    for each in sources.unreadable:
        say(f"{each.path}: {each.reason}\n  remedy: {each.remedy}")
    for each in sources.closed:
        say(f"{each.path}: {each.reason}: of the users' crontabs only your own is read\n  remedy: run as root to read them all")


def tell_useless_evidence(book: EvidenceBook, *, asked: bool) -> None:
    """Say on stderr that nothing came of the evidence that was named, and why; the plan would look as if none had been."""
    if asked and not book.available:
        reasons = "; ".join(book.skipped[:_SHOWN]) or "no start of these entries stands in it"
        from cron2queue.evidence.book import HOW_TO_GET_EVIDENCE

        say(f"the evidence was of no use: {reasons}\n  remedy: {HOW_TO_GET_EVIDENCE}")


def remark(sources: Sources, *, named: Collection[str] = (), verbose: bool) -> None:
    """The same, and which sources hold nothing; one file among many of a folder or host is told only when asked."""
    tell_unreadable(sources)
    for path in sources.skipped if verbose else ():
        say(f"{path}: holds nothing like an entry")
    told = {str(Path(each)) for each in named}
    alone = verbose or not any(file.entries for file in sources.files)
    for file in sources.files:
        if not file.entries and not file.malformed and (alone or file.path in told):
            say(f"{file.path}: holds no entry\n  remedy: name the crontab that starts the jobs")
