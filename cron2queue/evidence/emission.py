"""Reads whole sets of log files, and tells what was covered and what was not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

from cron2queue.evidence.blocks import Limits, Tale, blocks
from cron2queue.evidence.inputs import LogFile, LogSet
from cron2queue.evidence.reading import Formats, Item, JournalReader, Reader, new_formats, reader_of
from cron2queue.evidence.sampling import last_stamp, sampled
from cron2queue.evidence.stamps import Clock, NoStamp, first_years, stamp_of
from cron2queue.evidence.statistics import Window
from cron2queue.evidence.tally import moment

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Span:
    """What one file covers, in seconds since 1970."""

    start: float
    end: float


@dataclass(slots=True, kw_only=True)
class Look:
    """One look at logs: what all its parts share, and what they have to tell."""

    zone: tzinfo
    at: datetime
    limits: Limits = field(default_factory=Limits)
    progress: Progress | None = None
    total: int = 0
    tale: Tale = field(default_factory=Tale)
    spans: list[Span] = field(default_factory=list)
    bad_stamps: int = 0
    not_json: int = 0
    formats: set[str] = field(default_factory=set)


def emitted(log_set: LogSet, look: Look) -> Iterator[list[Item]]:
    """The events of a set, oldest file first, in lists of those of one block."""
    newest = (look.at + timedelta(days=1)).astimezone(look.zone).replace(tzinfo=None)
    years = _years(log_set.files, newest)
    formats = Formats(new_formats())
    for file, year in zip(log_set.files, years, strict=True):
        yield from _file(file, year, newest, formats, look)


def _years(files: Sequence[LogFile], newest: datetime) -> list[int]:
    """The year of each file's first line; a file's own date, where it is known, bounds it from above."""
    samples = [sampled(file) for file in files]
    if not files:
        return []
    end = files[-1].end
    bound = newest if end is None else min(newest, end + timedelta(days=1))
    years = first_years(samples, bound)
    return [year if stamps else bound.year for year, stamps in zip(years, samples, strict=True)]


def _file(file: LogFile, year: int, newest: datetime, formats: Formats, look: Look) -> Iterator[list[Item]]:
    reader: Reader | None = None
    first: bytes | None = None
    block = b""
    seen: list[Item] = []
    for block in blocks(file, look.tale, look.limits):
        if reader is None:
            reader = reader_of(block, formats, zone=look.zone, year=year, newest=newest)
            first = stamp_of(block.lstrip(b"\n")[:80])
        items = reader.events(block)
        if items:
            seen = [seen[0] if seen else items[0], items[-1]]
            look.formats.update({item.source for item in items[:50]})
            yield items
        if look.progress is not None:
            look.progress(look.tale.bytes_read, look.total)
    if reader is not None:
        _account(file, reader, first, block, seen, Clock(look.zone, year, newest), look)


def _account(
    file: LogFile, reader: Reader, first: bytes | None, block: bytes, seen: list[Item], clock: Clock, look: Look
) -> None:
    if isinstance(reader, JournalReader):
        look.not_json += reader.not_json
    else:
        look.bad_stamps += reader.bad_stamps
    span = Span(seen[0].at, seen[-1].at) if seen else None
    stamped = _span(first, last_stamp(block), clock)
    if span is not None and stamped is not None:
        span = Span(min(span.start, stamped.start), max(span.end, stamped.end))
    if (span or stamped) is None:
        look.tale.skipped.append(f"{file.shown}: no line with a time stamp that is known here")
    else:
        look.spans.append(span or stamped or Span(0, 0))


def _span(first: bytes | None, last: bytes | None, clock: Clock) -> Span | None:
    if first is None or last is None:
        return None
    try:
        start, end = clock.seconds(first), clock.seconds(last)
    except NoStamp:
        return None
    return Span(start, end) if end >= start else None


def covered(spans: Sequence[Span]) -> tuple[Window | None, float]:
    """The window of all spans, and which share of it they cover together."""
    if not spans:
        return None, 0.0
    ordered = sorted(spans, key=lambda span: span.start)
    start, end = ordered[0].start, max(span.end for span in ordered)
    total, reached = 0.0, start
    for span in ordered:
        total += max(0.0, span.end - max(span.start, reached))
        reached = max(reached, span.end)
    return Window(start=moment(start), end=moment(end)), (total / (end - start) if end > start else 1.0)


def rotated_together(spans: Sequence[Span], gap: float) -> list[Span]:
    """Spans joined where less than `gap` seconds are between them, as rotation leaves it on a quiet host."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda each: each.start):
        if joined and span.start - joined[-1].end <= gap:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(Span(span.start, span.end))
    return joined


def now_utc(at: datetime) -> float:
    """Seconds since 1970 of an aware time."""
    return at.astimezone(UTC).timestamp()
