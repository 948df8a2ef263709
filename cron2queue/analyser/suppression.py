"""Which findings do not count, and why: a comment above the entry, a comment for the whole file, or the baseline."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cron2queue.analyser.comments import Ignore, Remark, merged, remarks
from cron2queue.analyser.declarations import Declarations
from cron2queue.analyser.finding import EntryId, Finding, Suppression

if TYPE_CHECKING:
    from datetime import date

    from cron2queue.crontab.lines import CrontabFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Everything that comments say: ignores by place, declarations by entry, and all remarks by file."""

    ignores: Mapping[tuple[str, int | None], tuple[Ignore, ...]]
    declarations: Mapping[EntryId, Declarations]
    remarks: tuple[tuple[CrontabFile, Remark, int | None], ...]


def listen(files: Iterable[CrontabFile], ids: Mapping[tuple[str, int], EntryId]) -> Said:
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


def ignore_for(said: Said, finding: Finding, today: date) -> Ignore | None:
    """The comment that silences the finding, or None."""
    for place in ((finding.place.path, finding.place.line), (finding.place.path, None)):
        for ignore in said.ignores.get(place, ()):
            if finding.code in ignore.codes and ignore.trouble is None and not ignore.expired(today):
                return ignore
    return None


def suppressed(
    findings: Iterable[Finding], said: Said, *, today: date, baseline: Collection[str]
) -> tuple[list[Finding], frozenset[tuple[str, int]]]:
    """The findings with what silences them, and the (path, line) of each ignore comment that did."""
    marked: list[Finding] = []
    used: set[tuple[str, int]] = set()
    for finding in findings:
        ignore = ignore_for(said, finding, today) if said.ignores else None
        if ignore is not None:
            used.add((ignore.path, ignore.line))
            finding = replace(finding, suppressed=Suppression(reason=ignore.reason, until=ignore.until))
        elif baseline and finding.fingerprint in baseline:
            finding = replace(finding, suppressed=Suppression(reason="in the baseline", baseline=True))
        marked.append(finding)
    return marked, frozenset(used)
