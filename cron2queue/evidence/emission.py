"""Reads whole sets of log files, and tells what was covered and what was not."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import chain

from cron2queue.evidence.batch import Batch
from cron2queue.evidence.blocks import Limits, Tale, blocks
from cron2queue.evidence.condensing import Condenser, reread
from cron2queue.evidence.filtering import sieved, worth_sieving
from cron2queue.evidence.helping import helped, worth_help
from cron2queue.evidence.inputs import LogFile, LogSet
from cron2queue.evidence.log_format import Event, Op
from cron2queue.evidence.reading import Formats, JournalReader, Reader, SyslogReader, new_formats, reader_of
from cron2queue.evidence.sampling import last_stamp, sampled
from cron2queue.evidence.stamps import Clock, NoStamp, first_years, stamp_of, years_before
from cron2queue.evidence.statistics import Window
from cron2queue.evidence.tally import moment

_NOT_LONG = timedelta(days=62)
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
    barren: list[str] = field(default_factory=list)
    """Files without any start of a job."""


def emitted(log_set: LogSet, look: Look, *, together: bool) -> Iterator[list[Event] | Batch]:
    """The events of a set, oldest file first, in lists of those of one block; `together`: in short, where that is possible."""
    newest = (look.at + timedelta(days=1)).astimezone(look.zone).replace(tzinfo=None)
    samples = [sampled(file) for file in log_set.files]
    years = _years(log_set.files, samples, newest)
    formats = Formats(new_formats())
    for file, year, stamps in zip(log_set.files, years, samples, strict=True):
        yield from _file(file, Clock(look.zone, year, newest), stamps, formats, look, together=together)


def events_of(log_set: LogSet, look: Look) -> Iterator[list[Event]]:
    """The events of a set one by one, so that they can be merged with those of others."""
    for events in emitted(log_set, look, together=False):
        yield events.events() if isinstance(events, Batch) else events


def _years(files: Sequence[LogFile], samples: Sequence[Sequence[bytes | None]], newest: datetime) -> list[int]:
    """The year of each file's first line; the date of the newest file, where it is known, bounds it from above."""
    if not files:
        return []
    known = [[stamp for stamp in stamps if stamp is not None] for stamps in samples]
    bound = _bound(files[-1], known[-1], newest)
    years = first_years(known, bound)
    return [year if stamps else bound.year for year, stamps in zip(years, known, strict=True)]


def _bound(last: LogFile, stamps: Sequence[bytes], newest: datetime) -> datetime:
    """A wall time that the last line cannot be later than.

    The file's own time is believed when the last line is not long before it; else the file may have been copied, or
    written on a host whose clock goes otherwise.
    """
    if last.end is None:
        return newest
    bound = min(newest, last.end + timedelta(days=1))
    before = years_before(stamps[-1], bound) if stamps else timedelta(0)
    return bound if last.dated or before < _NOT_LONG else newest


def _file(
    file: LogFile, clock: Clock, stamps: Sequence[bytes | None], formats: Formats, look: Look, *, together: bool
) -> Iterator[list[Event] | Batch]:
    account = _Account(file=file, clock=clock.afresh(), look=look)
    condenser: Condenser | None = None
    for reader, block, batch in _blocks(file, clock, stamps, formats, look, together=together):
        account.block(reader, block)
        if together and condenser is None and isinstance(reader, SyslogReader):
            condenser = Condenser(reader, formats, clock)
        read = batch or _in_short(condenser, clock, block) or reader.events(block)
        if isinstance(read, Batch):
            account.reached(read.first, read.last, starts=True)
            yield read
        elif read:
            account.events(read)
            yield read
        if look.progress is not None:
            look.progress(look.tale.bytes_read, look.total)
    account.close([stamp for stamp in stamps if stamp is not None])


def _in_short(condenser: Condenser | None, clock: Clock, block: bytes) -> Batch | None:
    before = clock.state()
    batch = None if condenser is None else condenser.batch(block)
    if batch is not None and condenser is not None:
        batch.events = partial(reread, condenser.reader, clock, before, lambda: block)
    return batch


def _blocks(
    file: LogFile, clock: Clock, stamps: Sequence[bytes | None], formats: Formats, look: Look, *, together: bool
) -> Iterator[tuple[Reader, bytes, Batch | None]]:
    """The file's blocks and who reads them; a large syslog is sieved first, or told in short by helpers."""
    reading = blocks(file, look.tale, look.limits)
    block = next(reading, None)
    if block is None:
        return
    reader = reader_of(block, formats, clock)
    every: Iterator[bytes] = chain((block,), reading)
    if isinstance(reader, SyslogReader):
        fewer = sieved(file, look.tale) if worth_sieving(file, stamps, block) else None
        if fewer is not None:
            reading.close()
            every = fewer
        if together and worth_help(file, block, formats, clock):
            yield from ((reader, *each) for each in helped(every, clock, reader))
            return
    yield from ((reader, each, None) for each in every)


@dataclass(slots=True, kw_only=True)
class _Account:
    """What is to be told of one file, gathered on the way."""

    file: LogFile
    clock: Clock
    look: Look
    reader: Reader | None = None
    first: bytes | None = None
    last: bytes = b""
    seen: Span | None = None
    starts: bool = False

    def block(self, reader: Reader, block: bytes) -> None:
        """One block."""
        if self.reader is None:
            self.reader = reader
            self.first = stamp_of(block.lstrip(b"\n")[:80])
        self.last = block

    def events(self, events: Sequence[Event]) -> None:
        """Its events."""
        self.reached(events[0].at, events[-1].at, starts=any(event.op is Op.START for event in events))

    def reached(self, start: float, end: float, *, starts: bool) -> None:
        """What the events of one block cover, and whether jobs are started among them."""
        self.starts = self.starts or starts
        self.seen = Span(min(start, self.seen.start) if self.seen else start, max(end, self.seen.end) if self.seen else end)

    def close(self, stamps: Sequence[bytes]) -> None:
        """Tell the look of all of it."""
        if self.reader is None:
            if not self.file.size and not self.file.live:
                self.look.barren.append(self.file.shown)
            return
        if isinstance(self.reader, JournalReader):
            self.look.not_json += self.reader.not_json
        else:
            self.look.bad_stamps += self.reader.bad_stamps
        if not self.starts:
            if self.seen is None:
                self.look.barren.append(self.file.shown)
            return
        stamped = _span([stamp for stamp in (self.first, *stamps, last_stamp(self.last)) if stamp], self.clock)
        spans = [span for span in (self.seen, stamped) if span is not None]
        self.look.spans.append(Span(min(each.start for each in spans), max(each.end for each in spans)))


def _span(stamps: Sequence[bytes], clock: Clock) -> Span | None:
    """From the earliest of these stamps, which are in order, to the latest."""
    moments: list[float] = []
    for stamp in stamps:
        try:
            moments.append(clock.seconds(stamp))
        except NoStamp:
            continue
    return Span(min(moments), max(moments)) if moments else None


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
