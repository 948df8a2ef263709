"""Entries that are timed to run one after another, with nothing but the clock between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cron2queue.analyser.hosts import host_of
from cron2queue.analyser.invocations import invocations
from cron2queue.analyser.timing import is_dead
from cron2queue.crontab.schedule import Calendar
from cron2queue.expressions import any_of, regex
from cron2queue.record import Record

if TYPE_CHECKING:
    from cron2queue.analyser.finding import EntryId
    from cron2queue.analyser.rule import Subject
    from cron2queue.crontab.lines import Entry

LONGEST_GAP = 120
NEIGHBOURS = 6
# What usually makes something, and what usually takes it further.
_MAKERS = """
    dump mysqldump backup export generate build fetch download import collect aggregate crawl render prepare create make index
    pull snapshot archive compute calculate extract
"""
_TAKERS = """
    upload sync rsync copy send mail publish deploy report rotate compress gzip encrypt verify check clean cleanup purge import
    load index push transfer notify transform process merge
"""
MAKERS, TAKERS = frozenset(_MAKERS.split()), frozenset(_TAKERS.split())
_MAKER_HINT, _TAKER_HINT = regex(any_of(MAKERS)), regex(any_of(TAKERS))
_PATH = regex(r"(?<![\w.~/:$}-])/[\w.@+-]+(?:/[\w.@+-]*)+")
_COMMON = (
    "/usr/",
    "/bin/",
    "/sbin/",
    "/dev/",
    "/etc/",
    "/opt/scripts",
    "/var/log",
    "/var/run",
    "/run/",
    "/tmp/cron",
    "/proc/",
    "/sys/",
)
_TOKEN = regex(r"[a-z]{3,}")
_EMPTY_TOKENS = "php bash python perl ruby node script scripts cron run bin sh job jobs usr local opt root console task daily"
EMPTY_TOKENS = frozenset(_EMPTY_TOKENS.split())


class Chain(Record):
    """Two entries of which the second is timed to run after the first, with nothing but the clock between them.

    `broken_share` is the measured share of starts of the second that met a live run of the first. `reason` says what ties
    them together.
    """

    first: EntryId
    then: EntryId
    gap_seconds: int
    broken_share: float | None = None
    reason: str = ""


@lru_cache(maxsize=1024)
def touched_paths(command: str) -> frozenset[str]:
    """Files and folders that the command line names and that are not common to all jobs."""
    paths = {path.rstrip("/") for path in _PATH.findall(command) if not path.startswith(_COMMON)}
    programs = {each.path for each in invocations(command)}
    return frozenset(paths - programs)


@lru_cache(maxsize=1024)
def _tokens(name: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(name)) - EMPTY_TOKENS


@lru_cache(maxsize=1024)
def _may_make(command: str) -> bool:
    """A word of the makers stands in it somewhere; cheap, before the command is read."""
    return _MAKER_HINT.search(command.lower()) is not None


@lru_cache(maxsize=1024)
def _may_take(command: str) -> bool:
    return _TAKER_HINT.search(command.lower()) is not None


class _Job(NamedTuple):
    name: str
    command: str


def _tie(first: _Job, then: _Job) -> str | None:
    """What ties two jobs together as maker and taker, in words; None when nothing does."""
    ours, theirs = _tokens(first.name), _tokens(then.name)
    if not (ours & MAKERS and theirs & TAKERS) or (ours & TAKERS == theirs & TAKERS and ours & MAKERS == theirs & MAKERS):
        return None
    shared = _shared_path(touched_paths(first.command), touched_paths(then.command))
    if shared:
        return f"both name {shared}"
    common = (ours & theirs) - MAKERS - TAKERS
    return f"both are about {min(common)}" if common else None


def _shared_path(ours: frozenset[str], theirs: frozenset[str]) -> str | None:
    both = ours & theirs
    if both:
        return max(both, key=len)
    nested = [path for path in ours for other in theirs if other.startswith(path + "/") or path.startswith(other + "/")]
    return max(nested, key=len) if nested else None


def _timed(entry: Entry) -> tuple[int, int] | None:
    """Minute of the day of an entry with one start on each of its days, minute of the hour of one with a start in several.

    With it the hours of the latter (a bit set), 0 for the former: minutes of the same hours can be told apart.
    """
    calendar = entry.schedule
    if not isinstance(calendar, Calendar) or calendar.random or is_dead(calendar):
        return None
    if calendar.minutes.bit_count() != 1:
        return None
    minute = calendar.minutes.bit_length() - 1
    if calendar.hours.bit_count() > 1:
        return minute, calendar.hours
    return (calendar.hours.bit_length() - 1) * 60 + minute, 0


def _days_key(calendar: Calendar) -> tuple[int, int, int, bool]:
    return calendar.days, calendar.months, calendar.weekdays, calendar.either_day


@lru_cache(maxsize=1)
def chains_of(subject: Subject) -> tuple[Chain, ...]:
    """Pairs of hourly or daily (weekly, monthly) entries of one host and user within two hours that something ties together."""
    groups: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for at, (file, entry) in enumerate(subject.entries):
        timed = _timed(entry)
        if timed is not None and isinstance(entry.schedule, Calendar):
            minute, hours = timed
            key = (host_of(file), entry.user or file.path, _days_key(entry.schedule), hours)
            groups.setdefault(key, []).append((minute, at))
    return tuple(chain for group in groups.values() for chain in _pairs(subject, sorted(group)))


def _pairs(subject: Subject, timed: list[tuple[int, int]]) -> Iterator[Chain]:
    """For each maker the first taker that is tied to it, among the few that start next after it; all by their places."""
    entries, names = subject.entries, subject.readings.names
    takers = [(minute, at) for minute, at in timed if _may_take(entries[at][1].command)]
    minutes = [minute for minute, _ in takers]
    for minute, at in timed if takers else ():
        if not _may_make(entries[at][1].command):
            continue
        after, end = bisect_right(minutes, minute), bisect_right(minutes, minute + LONGEST_GAP)
        for later, other in takers[after : min(end, after + NEIGHBOURS)]:
            reason = _tie(_Job(names[at], entries[at][1].command), _Job(names[other], entries[other][1].command))
            if reason is not None:
                first, then = subject.id_of(*entries[at]), subject.id_of(*entries[other])
                measured = subject.book.overlap(first, then)
                share = measured.share if measured else None
                yield Chain(first=first, then=then, gap_seconds=(later - minute) * 60, broken_share=share, reason=reason)
                break
