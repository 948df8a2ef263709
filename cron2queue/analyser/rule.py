"""The contract of the rules: one class a module in rules/, found by discovery, tested by its own examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from sys import intern
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from cron2queue.analyser.declarations import NOTHING_DECLARED, Declarations
from cron2queue.analyser.finding import Confidence, EntryId, Finding, NotJudged, Place, Severity
from cron2queue.analyser.readings import Readings
from cron2queue.analyser.templates import is_template_file, is_unrendered
from cron2queue.record import Record, computed

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from cron2queue.analyser.host import HostFacts
    from cron2queue.analyser.suppression import Said
    from cron2queue.crontab.lines import CrontabFile, Entry, EntryIds, Line
    from cron2queue.evidence.book import EvidenceBook
    from cron2queue.evidence.statistics import Evidence

ALL = frozenset({"debian", "cronie", "busybox", "systemd-cron", "freebsd", "openbsd"})


class Subject(Record):
    """All that a rule may look at: several files (of several hosts) at once, their evidence, one moment, one zone.

    `said` is what comments say to cron2queue; `host` is known only where the audit runs on the machine or its tree.
    """

    files: tuple[CrontabFile, ...]
    book: EvidenceBook
    at: datetime
    zone: ZoneInfo
    ids: EntryIds
    said: Said
    declarations: Mapping[EntryId, Declarations] = MappingProxyType({})
    host: HostFacts | None = None
    entries: tuple[tuple[CrontabFile, Entry], ...] = computed()
    """Every entry with its file, in reading order."""
    _readings: list[Readings] = computed()
    _templates: dict[int, bool] = computed()
    # Itself alone: what was found of it is kept, and nobody compares whole fleets.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple((file, entry) for file in self.files for entry in file.entries))
        object.__setattr__(self, "_readings", [])
        object.__setattr__(self, "_templates", {})

    @property
    def readings(self) -> Readings:
        """What each of `entries` runs; read when it is asked for first."""
        if not self._readings:
            self._readings.append(Readings([entry for _, entry in self.entries]))
        return self._readings[0]

    def forget_readings(self) -> None:
        """All entries have been judged: hardly anybody asks any more."""
        self._readings.clear()

    def is_template(self, file: CrontabFile) -> bool:
        """Of one of `files`, looked at once: it is asked for at every entry of a file that cron ignores."""
        known = self._templates.get(id(file))
        if known is None:
            known = self._templates[id(file)] = is_template_file(file)
        return known

    def id_of(self, file: CrontabFile, entry: Entry) -> EntryId:
        """The entry's stable name."""
        return self.ids.of(file.path, entry)

    def declared(self, file: CrontabFile, entry: Entry) -> Declarations:
        """What a person said of the entry; all None when nothing was said."""
        return self.declarations.get(self.id_of(file, entry), NOTHING_DECLARED) if self.declarations else NOTHING_DECLARED

    def evidence(self, file: CrontabFile, entry: Entry) -> Evidence | None:
        """What was measured of the entry, or None."""
        return self.book.by_entry.get(self.id_of(file, entry)) if self.book.by_entry else None


class Example(NamedTuple):
    """A crontab that a rule must flag, or must not: both documentation and test.

    `evidence` maps line numbers to the fields of what was measured for the entry on that line; `host` gives facts of the
    machine (see `HostFacts`); `others` are further files (path, text); `overlaps` are measured meetings (line of the first,
    line of the second, how many of how many starts of the second); `unscheduled` are runs that no entry accounts for (user,
    command, how many).
    """

    text: str
    dialect: str = "debian"
    kind: str = "system"
    path: str = "/etc/cron.d/shop"
    evidence: Mapping[int, Mapping[str, Any]] = MappingProxyType({})
    host: Mapping[str, Any] | None = None
    others: tuple[tuple[str, str], ...] = ()
    overlaps: tuple[tuple[int, int, int, int], ...] = ()
    unscheduled: tuple[tuple[str, str, int], ...] = ()
    zone: str = "Europe/Berlin"


class ReviewContext(Record):
    """What the audit knows after all rules have looked: which ignore comments, by (path, line), silenced something."""

    used_ignores: frozenset[tuple[str, int]]
    asked: frozenset[str]
    """Codes of the rules that were asked."""


class Rule(ABC):
    """One question asked of crontabs and their evidence.

    The docstring has a first sentence and the sections "Why it matters", "What to do" and "Not flagged"; `explain` and
    the reference are made from it. `check` is about linear in the number of entries.
    """

    code: ClassVar[str]
    severity: ClassVar[Severity]
    confidence: ClassVar[Confidence]
    dialects: ClassVar[frozenset[str]] = ALL
    bad: ClassVar[tuple[str | Example, ...]]
    good: ClassVar[tuple[str | Example, ...]]

    @classmethod
    def slug(cls) -> str:
        """The rule's readable name, from its module: `never-fires`."""
        return _slug(cls)

    @abstractmethod
    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Every answer of this rule, in the order of files and lines."""

    def look_again(self, subject: Subject, faulty: frozenset[EntryId]) -> Iterator[Finding | NotJudged]:
        """Answers that depend on which entries are broken, mistaken or to be switched off; asked when all have been judged."""
        return iter(())

    def review(self, subject: Subject, context: ReviewContext) -> Iterator[Finding]:
        """Answers that depend on those of all other rules: about ignores that nothing needed."""
        return iter(())

    def answers(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """What the rule says when it is asked alone: its looks, and its review as if no ignore had been needed."""
        yield from self.check(subject)
        yield from self.look_again(subject, frozenset())
        yield from self.review(subject, ReviewContext(used_ignores=frozenset(), asked=frozenset({"*"})))

    def fold(self, findings: Sequence[Finding]) -> tuple[str, str] | None:
        """Message and remedy of one finding in place of several in one file; None: each stands for itself."""
        return None

    def fix(self, line: Line) -> bytes | None:
        """The physical line put right, where that is safe without asking; None where a person must decide."""
        return None

    def at_entry(self, subject: Subject, file: CrontabFile, entry: Entry, message: str, remedy: str, **more: Any) -> Finding:
        """A finding at an entry; `column` and `end_column` narrow the place, everything else goes to `Finding`."""
        column, end = more.pop("column", None), more.pop("end_column", None)
        place = Place(path=file.path, line=entry.number, column=column, end_column=end)
        return self.at(place, message, remedy, entry=subject.ids.of(file.path, entry), raw=entry.raw, **more)

    def at_line(self, file: CrontabFile, line: Line, message: str, remedy: str, **more: Any) -> Finding:
        """A finding at a line that is not an entry."""
        place = Place(path=file.path, line=line.number, column=more.pop("column", None))
        return self.at(place, message, remedy, raw=line.raw, **more)

    def at(self, place: Place, message: str, remedy: str, **more: Any) -> Finding:
        """A finding at any place, with this rule's code, severity and confidence unless said otherwise."""
        more.setdefault("severity", self.severity)
        more.setdefault("confidence", self.confidence)
        if "evidence" in more:
            more["evidence"] = intern(more["evidence"])
        return Finding(
            code=self.code, rule=_slug(type(self)), place=place, message=intern(message), remedy=intern(remedy), **more
        )


@cache
def _slug(rule: type[Rule]) -> str:
    return rule.__module__.rpartition(".")[2].replace("_", "-")


def stands_in_crontab(file: CrontabFile, entry: Entry) -> bool:
    """It is a line of a crontab: no script of a folder, and no placeholder of a template that the daemon would misread."""
    return file.editable and not is_unrendered(file, entry)


class EntryRule(Rule):
    """A rule that looks at one entry at a time, in the dialects that it applies to.

    Only entries that stand in a crontab are looked at: not the scripts of cron.daily and the lines of anacrontab, which have
    no schedule fields, redirects or locks of their own, and no placeholders of a template that a daemon takes for an entry.
    """

    @abstractmethod
    def look(self, subject: Subject, file: CrontabFile, entry: Entry) -> Iterator[Finding]:
        """The answers for one entry."""

    def check(self, subject: Subject) -> Iterator[Finding | NotJudged]:
        """Every entry in turn."""
        for file, entry in subject.entries:
            if file.dialect in self.dialects and stands_in_crontab(file, entry):
                yield from self.look(subject, file, entry)


class ScheduleRule(EntryRule):
    """A rule whose silence depends on the daemon and the schedule alone, as it is written and as it is read.

    Where it has been silent once, it need not be asked again of that schedule: a fleet has few of them.
    """


def column_in_line(entry: Entry, offset: int) -> int:
    """Column in the physical line of a character of `entry.command`, which has lost the backslashes of `\\%`."""
    written, at = entry.command_text, 0
    for _ in range(offset):
        at += 2 if written.startswith("\\%", at) else 1
    return entry.command_column + at
