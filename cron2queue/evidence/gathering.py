"""One look at everything a host has of its jobs' past: logs, journal and recordings become one book of evidence."""

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, tzinfo
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path

from cron2queue.crontab.lines import CrontabFile, entry_ids
from cron2queue.crontab.schedule import Calendar
from cron2queue.evidence.batch import Batch
from cron2queue.evidence.book import HOW_TO_GET_EVIDENCE, EvidenceBook, Overlap
from cron2queue.evidence.emission import Look, Progress, Span, covered, emitted, events_of, rotated_together
from cron2queue.evidence.emptiness import nothing_to_do as says_nothing_to_do
from cron2queue.evidence.inputs import LogFile, LogSet, log_sets, spooled
from cron2queue.evidence.ledger import Ledger
from cron2queue.evidence.log_format import Event
from cron2queue.evidence.matching import Index, Listed, listed
from cron2queue.evidence.merging import Merger
from cron2queue.evidence.pairing import Pairer
from cron2queue.evidence.replaying import recorded
from cron2queue.evidence.runs import Run
from cron2queue.evidence.sessions import SessionPairing
from cron2queue.evidence.statistics import Evidence, Window
from cron2queue.evidence.tally import Tally, moment

_ROTATION_GAP = 3_600.0
_MOST_HOSTS = 200
_MOST_FIRES = 10_000
_FEW_BARREN = 3
_OLD = 31  # days
_NEARLY_ALL = 0.98
_host = attrgetter("host")
Listen = Callable[[Run], None]


def gather(
    logs: Sequence[Path],
    *,
    journal: Path | None,
    observations: Path | None,
    files: Sequence[CrontabFile],
    zone: tzinfo,
    at: datetime,
    progress: Progress | None = None,
    nothing_to_do: Sequence[str] = (),
    listen: Listen | None = None,
) -> EvidenceBook:
    """All evidence for these crontabs from log files or folders, a journal and a recording, in memory that stays small.

    `logs`: files, folders, `-`. `journal`: output of `journalctl -o json`, a folder of such, `-`, or `live` to ask
    journalctl. `zone`: of the daemon's stamps. `at`: no line is later than a day after it. `progress` is called with
    bytes read and bytes in all. `nothing_to_do`: further regular expressions for output that says so. `listen` hears of
    each run. Never raises for bad input: what could not be used is named in the book.
    """
    if not logs and journal is None and observations is None:
        return EvidenceBook.empty("no log, journal or recording was given")
    with ExitStack() as cleanup, _collector_at_rest():
        paths = [_readable(path, cleanup) for path in logs]
        sets, skipped = log_sets(paths)
        journals, more = _journals(journal, cleanup)
        look = Look(zone=zone, at=at, progress=progress)
        look.tale.skipped.extend((*skipped, *more))
        look.total = sum(file.size for each in (*sets, *journals) for file in each.files)
        entries = listed(files, entry_ids(files))
        ledger = Ledger(Index(entries), listen, recorded=observations is not None)
        says = says_nothing_to_do(nothing_to_do)
        hosts = _read_logs(sets, journals, look, ledger, says)
        recorded(observations, ledger, look.tale.skipped)
    return _book(ledger, look, hosts, entries, _names(logs, journal, observations))


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """No search for rings among the millions of small tuples, which hold none: it would take a fifth of the time."""
    working = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if working:
            gc.enable()


def _readable(path: Path, cleanup: ExitStack) -> Path:
    if str(path) != "-":
        return path
    copy = spooled(sys.stdin.buffer)
    cleanup.callback(copy.unlink, missing_ok=True)
    return copy


def _journals(journal: Path | None, cleanup: ExitStack) -> tuple[tuple[LogSet, ...], tuple[str, ...]]:
    if journal is None:
        return (), ()
    if str(journal) == "live" and not os.path.exists(journal):
        return (LogSet(stem="journalctl", files=(LogFile(path=journal, size=0, live=True),)),), ()
    return log_sets([_readable(journal, cleanup)])


def _names(logs: Sequence[Path], journal: Path | None, observations: Path | None) -> tuple[str, ...]:
    return tuple(str(path) for path in (*logs, journal, observations) if path is not None)


def _read_logs(
    sets: Sequence[LogSet], journals: Sequence[LogSet], look: Look, ledger: Ledger, says: Callable[[str], bool]
) -> dict[bytes, int]:
    alone = len(sets) + len(journals) == 1
    pairers: dict[bytes, Pairer] = {}
    hosts: dict[bytes, int] = {}

    def new() -> Pairer:
        return Pairer(ledger, SessionPairing(ledger, ordered=alone), says)

    merger = Merger([(events_of(each, look), False) for each in sets] + [(events_of(each, look), True) for each in journals])
    only = emitted((*sets, *journals)[0], look, together=not ledger.heard) if alone else None
    for events in merger if only is None else only:
        _pair(events, pairers, hosts, new)
    for pairer in pairers.values():
        pairer.finish()
    if merger.doubles:
        look.tale.skipped.append(f"{merger.doubles} messages that stand in several of the logs were counted once")
    return hosts


def _pair(
    events: list[Event] | Batch, pairers: dict[bytes, Pairer], hosts: dict[bytes, int], new: Callable[[], Pairer]
) -> None:
    if isinstance(events, Batch):
        if _of_host(events.host, pairers, new).take_together(events):
            _count_host(events.host, hosts, len(events.begun))
            return
        events = events.events()
    for host, of_host in groupby(events, key=_host):
        _of_host(host, pairers, new).take(of_host)
        _count_host(host, hosts, 1)


def _of_host(host: bytes, pairers: dict[bytes, Pairer], new: Callable[[], Pairer]) -> Pairer:
    pairer = pairers.get(host)
    if pairer is None:
        pairer = pairers[host] = next(iter(pairers.values())) if len(pairers) >= _MOST_HOSTS else new()
    return pairer


def _count_host(host: bytes, hosts: dict[bytes, int], count: int) -> None:
    if host in hosts or len(hosts) < _MOST_HOSTS:
        hosts[host] = hosts.get(host, 0) + count


def _book(
    ledger: Ledger, look: Look, hosts: dict[bytes, int], entries: Sequence[Listed], sources: tuple[str, ...]
) -> EvidenceBook:
    window, share = covered(rotated_together(look.spans, _ROTATION_GAP))
    skipped = (*_skipped(look, hosts, share, ledger.dropped), *(_doubts(ledger, look) if entries else ()))
    if not ledger.runs:
        why = "no log, journal or recording was given" if not sources else "no run of a job was found in what was given"
        return replace(EvidenceBook.empty(why, skipped=skipped), sources=sources)
    window = Window(start=moment(ledger.first), end=moment(ledger.last)).joined(window)
    tallies = ledger.tallies
    by_entry = {
        each: replace(found, shares_with=tuple(other for other in tally.ids if other != each))
        for tally in tallies
        for found in (_evidence(tally, window, ledger),)
        for each in tally.ids
    }
    return EvidenceBook(
        available=True,
        sources=sources,
        window=window,
        covered=share if look.spans else 1.0,
        runs=ledger.runs,
        matched=ledger.matched,
        unmatched=ledger.runs - ledger.matched,
        skipped=skipped,
        how_to_get_evidence="" if all(found.n or found.background for found in by_entry.values()) else HOW_TO_GET_EVIDENCE,
        by_entry=by_entry,
        never_seen=tuple(_never_seen(entries, by_entry.keys(), look, ledger)),
        unscheduled=ledger.strangers.named(ledger.edited),
        overlaps=tuple(sorted(_overlaps(ledger), key=lambda each: (-each.met, each.first, each.then))),
        changes=tuple(f"{moment(when):%Y-%m-%d %H:%M:%S} UTC: {whose}" for whose, when in sorted(ledger.changes.items())),
    )


def _evidence(tally: Tally, window: Window, ledger: Ledger) -> Evidence:
    return tally.evidence(
        window=window, failures_told=ledger.tells("failures", tally), output_told=ledger.tells("output", tally)
    )


def _skipped(look: Look, hosts: dict[bytes, int], share: float, dropped: int) -> Iterator[str]:
    yield from look.tale.skipped
    if len(look.barren) > _FEW_BARREN:
        yield f"{len(look.barren)} files hold no start of a job, such as {look.barren[0]}"
    else:
        yield from (f"{name}: no start of a job in it, or no time stamp that is known here" for name in look.barren)
    if look.spans and share < _NEARLY_ALL:
        yield f"the logs cover {share:.0%} of the time from their first line to their last"
    for count, what in (
        (look.tale.long_lines, "lines longer than 64 KiB were cut there"),
        (look.bad_stamps, "lines with a date that does not exist"),
        (look.not_json, "journal records that are not JSON"),
        (dropped, "messages were kept out of the logs by a rate limit: starts and ends of jobs may be missing"),
    ):
        if count:
            yield f"{count} {what}"
    named = sorted(host.decode("utf-8", "replace") for host in hosts if host)
    if len(named) > 1:
        yield f"the logs are of {len(named)} hosts ({', '.join(named[:5])}): all of them are counted for these crontabs"


def _doubts(ledger: Ledger, look: Look) -> Iterator[str]:
    """Why the runs that were seen may tell nothing of these crontabs as they are now."""
    if ledger.runs and not ledger.matched:
        yield "no run in the logs is of these crontabs: the logs may be of another host"
    old = (look.at - moment(ledger.last)).days if ledger.runs else 0
    if old > _OLD:
        yield f"the last run was {old:,} days before this report, on {moment(ledger.last):%Y-%m-%d}: much may have changed"


def _overlaps(ledger: Ledger) -> Iterator[Overlap]:
    for met, live, later in ledger.meetings.pairs.values():
        if isinstance(met, int) and isinstance(live, Tally) and isinstance(later, Tally):
            starts = min(later.starts, later.starts)
            yield from (
                Overlap(first=first, then=then, met=min(met, starts), starts=starts) for first in live.ids for then in later.ids
            )


def _never_seen(entries: Sequence[Listed], seen: Iterable[str], look: Look, ledger: Ledger) -> Iterator[str]:
    """Entries that must have started in a span that the logs cover, after the last edit of their crontab."""
    spans = rotated_together(look.spans, _ROTATION_GAP)
    known = set(seen)
    if not known:
        return  # the log may be of another host
    for each in entries:
        logged = each.file.editable and not each.entry.quiet  # what anacron and run-parts start is not logged by name
        if each.id in known or not logged or not isinstance(each.entry.schedule, Calendar):
            continue
        if any(_was_due(each, span, ledger.edited(each.entry.user), look.zone, ledger.active_hours) for span in spans):
            yield each.id


def _was_due(each: Listed, span: Span, edited: float, zone: tzinfo, active: Set[int]) -> bool:
    """Whether it should have started at a time when the daemon is seen to have been at work."""
    start, end = max(span.start, edited) + 60, span.end - 60
    if start >= end:
        return False
    fires = each.entry.schedule.fires_between(moment(start), moment(end), zone)
    hours = (int(fire.at.timestamp() // 3600) for fire in islice(fires, _MOST_FIRES))
    return any({hour - 1, hour, hour + 1} & active for hour in hours)
