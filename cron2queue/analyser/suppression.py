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
    """Everything that comments say: declarations by entry, and all remarks by file."""

    declarations: Mapping[EntryId, Declarations]
    remarks: tuple[tuple[CrontabFile, Remark, int | None], ...]


def listen(files: Iterable[CrontabFile], ids: Mapping[EntryPlace, EntryId]) -> Said:
    """Read the comments of all files."""
    declarations: dict[EntryId, Declarations] = {}
    every = [(file, remark, target) for file in files for remark, target in remarks(file)]
    for file, remark, target in every:
        entry_id = ids.get((file.path, target)) if target is not None else None
        if remark.declarations is not None and entry_id is not None:
            declarations[entry_id] = merged(declarations.get(entry_id, Declarations()), remark.declarations)
    return Said(declarations=declarations, remarks=tuple(every))


class Silence:
    """Marks findings that a comment or the baseline silences, and remembers which comments did."""

    def __init__(self, *, said: Said, today: date, baseline: frozenset[str]) -> None:
        self.baseline = baseline
        self.used: set[tuple[str, int]] = set()
        self._ignores: dict[tuple[str, int | None, str], Ignore] = {}
        for ignore in filter(None, (remark.ignore for _, remark, _ in said.remarks)):
            if ignore.trouble is None and not ignore.expired(today):
                for code in ignore.codes:
                    self._ignores.setdefault((ignore.path, ignore.target, code), ignore)

    def _ignore_for(self, finding: Finding) -> Ignore | None:
        place = finding.place
        return self._ignores.get((place.path, place.line, finding.code)) or self._ignores.get((place.path, None, finding.code))

    def mark(self, finding: Finding) -> Finding:
        """The finding as it stands, or with what silences it."""
        ignore = self._ignore_for(finding) if self._ignores else None
        if ignore is not None:
            self.used.add((ignore.path, ignore.line))
            return finding.but(suppressed=Suppression(reason=ignore.reason, until=ignore.until))
        if self.baseline and finding.fingerprint in self.baseline:
            return finding.but(suppressed=Suppression(reason="in the baseline", baseline=True))
        return finding
