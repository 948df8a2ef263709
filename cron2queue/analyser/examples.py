"""Turns a rule's examples into subjects: the crontab is parsed as its daemon does, evidence and host are as given."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from cron2queue.analyser.finding import EntryId
from cron2queue.analyser.host import HostFacts
from cron2queue.analyser.rule import Example, Subject
from cron2queue.analyser.suppression import listen
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, EntryPlace, Kind, entry_ids
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook, Overlap
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.statistics import Evidence, Window
from cron2queue.text import to_bytes

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ZONE = "Europe/Berlin"
_WINDOW = Window(start=AT - timedelta(days=14), end=AT)


def example_of(text: str | Example) -> Example:
    """A plain text is a Debian system crontab."""
    return text if isinstance(text, Example) else Example(text)


def files_of(example: Example) -> tuple[CrontabFile, ...]:
    """The example's file and its others, parsed."""
    dialect, kind = dialect_named(example.dialect), Kind(example.kind)
    texts = ((example.path, example.text), *example.others)
    return tuple(parse(to_bytes(text), path=path, dialect=dialect, kind=kind) for path, text in texts)


def _evidence(given: Mapping[str, Any]) -> Evidence:
    facts = {"window": _WINDOW, "source": "journal", "n": 100, "pairing": Pairing.EXACT, **given}
    facts.setdefault("starts", facts["n"])
    return Evidence(**facts)


def _book(example: Example, ids: Mapping[EntryPlace, EntryId]) -> EvidenceBook:
    if not example.evidence:
        return EvidenceBook.empty("no log was given")
    by_entry = {
        ids[example.path, line]: _evidence(given) for line, given in example.evidence.items() if "never_seen" not in given
    }
    unseen = tuple(ids[example.path, line] for line, given in example.evidence.items() if "never_seen" in given)
    return EvidenceBook(
        available=True,
        sources=("journal",),
        window=_WINDOW,
        runs=sum(each.starts for each in by_entry.values()),
        matched=sum(each.starts for each in by_entry.values()),
        by_entry=by_entry,
        never_seen=unseen,
        unscheduled=example.unscheduled,
        overlaps=tuple(_overlaps(example, ids)),
    )


def _overlaps(example: Example, ids: Mapping[EntryPlace, EntryId]) -> Iterable[Overlap]:
    for first, then, met, starts in example.overlaps:
        yield Overlap(first=ids[example.path, first], then=ids[example.path, then], met=met, starts=starts)


def subject_of(text: str | Example) -> Subject:
    """What a rule is asked about the example."""
    example = example_of(text)
    files = files_of(example)
    ids = entry_ids(files)
    said = listen(files, ids)
    return Subject(
        files=files,
        book=_book(example, ids),
        at=AT,
        zone=ZoneInfo(example.zone),
        ids=ids,
        declarations=said.declarations,
        host=None if example.host is None else HostFacts(**example.host),
        said=said,
    )
