"""Observed runs, told to the ledger in the order in which they began and ended."""

import heapq
import os
import sqlite3
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from cron2queue.evidence.ledger import Ledger
from cron2queue.evidence.log_format import Ending, Subject
from cron2queue.evidence.observations import Observation, read
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.stamps import LATEST
from cron2queue.evidence.starts import Started


def recorded(path: Path | None, ledger: Ledger, skipped: list[str]) -> None:
    """Tells the ledger of all observed runs; what cannot be read is named in `skipped`.

    A folder stands for all recordings (*.db) in it, for hosts on which several users observe.
    """
    if path is None:
        return
    paths = sorted(path.glob("*.db")) if os.path.isdir(path) else [path]
    pending: list[tuple[float, int, Started, Observation]] = []
    every = heapq.merge(*(_readable(each, skipped) for each in paths), key=attrgetter("started"))
    for number, each in enumerate(every):
        while pending and pending[0][0] <= each.started:
            _end(ledger, heapq.heappop(pending))
        start = _start(ledger, each, number)
        if each.ended is None:
            ledger.cut(start)
        else:
            heapq.heappush(pending, (each.ended, number, start, each))
    while pending:
        _end(ledger, heapq.heappop(pending))


def _readable(path: Path, skipped: list[str]) -> Iterator[Observation]:
    """The observations up to the first that cannot be read."""
    try:
        for each in read(path):
            if _is_sane(each.started) and (each.ended is None or _is_sane(each.ended)):
                yield each
    except (sqlite3.Error, OSError, TypeError, ValueError) as wrong:
        skipped.append(f"{path}: no recording of cron2queue observe ({wrong})")


def _is_sane(at: object) -> bool:
    return isinstance(at, float) and 0 <= at < LATEST


def _start(ledger: Ledger, each: Observation, number: int) -> Started:
    hint = f"digest:{each.digest}" if ledger.stranger(each.entry) else each.entry
    start = Started(each.started, Subject(each.account, each.command, hint=hint), "observed", 0, 0, number)
    ledger.reports("output", "observed")
    ledger.reports("failures", "observed")
    ledger.started(start)
    return start


def _end(ledger: Ledger, due: tuple[float, int, Started, Observation]) -> None:
    ended, _, start, each = due
    known = each.stdout_bytes is not None or each.stderr_bytes is not None
    cpu = None if each.user_seconds is None else each.user_seconds + (each.system_seconds or 0.0)
    ending = Ending(
        exit_status=each.exit_status,
        signal=each.signal,
        output=bool((each.stdout_bytes or 0) + (each.stderr_bytes or 0)) if known else None,
        cpu_seconds=cpu,
        max_rss_bytes=each.max_rss_bytes,
        nothing_to_do=None if each.nothing_to_do is None else bool(each.nothing_to_do),
    )
    ledger.ended(start, ended, ending, Pairing.EXACT)
