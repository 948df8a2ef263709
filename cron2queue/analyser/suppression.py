"""Which findings do not count, and why: a comment above the entry, a comment for the whole file, or the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cron2queue.analyser.comments import Ignore, Remark, merged, remarks
from cron2queue.analyser.declarations import Declarations
from cron2queue.analyser.finding import EntryId, Finding, Suppression
from cron2queue.record import Record

if TYPE_CHECKING:
    from datetime import date

    from cron2queue.crontab.lines import CrontabFile, EntryPlace


class Said(Record):
    """Everything that comments say: ignores by place, declarations by entry, and all remarks by file."""

    ignores: Mapping[tuple[str, int | None], tuple[Ignore, ...]]
    declarations: Mapping[EntryId, Declarations]
    remarks: tuple[tuple[CrontabFile, Remark, int | None], ...]


def listen(files: Iterable[CrontabFile], ids: Mapping[EntryPlace, EntryId]) -> Said:
    """Read the comments of all files."""
    ignores: dict[tuple[str, int | None], tuple[Ignore, ...]] = {}
    declarations: dict[EntryId, Declarations] = {}
    every = [(file, remark, target) for file in files for remark, target in remarks(file)]
    for file, remark, target in every:
        if remark.ignore is not None:
            place = (file.path, remark.ignore.target)
            ignores[place] = (*ignores.get(place, ()), remark.ignore)
        entry_id = ids.get((file.path, target)) if target is not None else None
        if remark.declarations is not None and entry_id is not None:
            declarations[entry_id] = merged(declarations.get(entry_id, Declarations()), remark.declarations)
    return Said(ignores=ignores, declarations=declarations, remarks=tuple(every))


class Silence:
    """Marks findings that a comment or the baseline silences, and remembers which comments did."""

    def __init__(self, *, said: Said, today: date, baseline: frozenset[str]) -> None:
        self.said = said
        self.today = today
        self.baseline = baseline
        self.used: set[tuple[str, int]] = set()

    def _ignore_for(self, finding: Finding) -> Ignore | None:
        for place in ((finding.place.path, finding.place.line), (finding.place.path, None)):
            for ignore in self.said.ignores.get(place, ()):
                if finding.code in ignore.codes and ignore.trouble is None and not ignore.expired(self.today):
                    return ignore
        return None

    def mark(self, finding: Finding) -> Finding:
        """The finding as it stands, or with what silences it."""
        ignore = self._ignore_for(finding) if self.said.ignores else None
        if ignore is not None:
            self.used.add((ignore.path, ignore.line))
            return finding.but(suppressed=Suppression(reason=ignore.reason, until=ignore.until))
        if self.baseline and finding.fingerprint in self.baseline:
            return finding.but(suppressed=Suppression(reason="in the baseline", baseline=True))
        return finding
