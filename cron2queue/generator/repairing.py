"""Lines that are broken today, put right by the rules that found them, wherever a rule can do so without asking.

All such lines of a file are put right together, and the whole is read back: an entry's repair counts when it is still one
entry of the same user at the same times, and a file that cron ignores today is repaired when cron would read it then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cron2queue.analyser.audit import audit as judged
from cron2queue.analyser.finding import Severity
from cron2queue.analyser.registry import rule_named
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Entry, Kind, Malformed
from cron2queue.crontab.parser import parse
from cron2queue.evidence.book import EvidenceBook
from cron2queue.generator.crontab_lines import same_schedule
from cron2queue.plan.blocks import physical_lines

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import CrontabFile, Line

REPAIR_FIRST = "repair it first"
"""Said of a broken line that no rule can put right."""
ROUNDS = 4
"""One line may be broken in several ways, each of them seen only when the one before is put right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One physical line and what it should be. `entry` is how cron then reads it, None for what is no entry or not yet one."""

    old: bytes
    new: bytes
    rules: tuple[str, ...]
    entry: Entry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairedFile:
    """The repairs of one file, by line: for lines that stay, and for entries that are converted.

    A converted entry does what it did, mistakes in its command among it: only what is wrong with the file as a whole (line
    ends, a byte order mark) is put right for it. `revived`: cron ignores the whole file today, and would read it then.
    """

    lines: Mapping[int, Repair]
    converted: Mapping[int, Repair] = field(default_factory=dict)
    revived: bool = False


NO_REPAIRS = RepairedFile(lines={})


def repairs(audit: Audit) -> dict[str, RepairedFile]:
    """What the rules can put right, by path."""
    found = {file.path: _of_file(file, audit) for file in audit.files if file.editable}
    return {path: each for path, each in found.items() if each.lines}


def _of_file(file: CrontabFile, audit: Audit) -> RepairedFile:
    lines, after = _put_right(file, audit, whole_file=False)
    converted, _ = _put_right(file, audit, whole_file=True) if lines else ({}, file)
    return RepairedFile(lines=lines, converted=converted, revived=after.loaded and not file.loaded)


def _put_right(file: CrontabFile, audit: Audit, *, whole_file: bool) -> tuple[dict[int, Repair], CrontabFile]:
    """The repairs and the file with them; `whole_file`: only of what is said of the file, not of one entry."""
    rules: dict[int, list[str]] = {}
    now, findings = file, audit.findings
    for _ in range(ROUNDS):
        errors = [each for each in _errors(findings, file.path) if each.entry is None or not whole_file]
        fixed = {line.number: found for line in _whole(now) if (found := _fixed(line, errors)) is not None}
        if not fixed:
            break
        for number, (_, rule) in fixed.items():
            rules.setdefault(number, []).append(rule)
        now = _read(file, b"".join(fixed.get(line.number, (line.raw, ""))[0] for line in now.lines))
        findings = judged([now], EvidenceBook.empty("it is read again"), at=audit.at, zone=audit.zone).findings
    after = {line.number: line for line in now.lines}
    kept = [(old, after[old.number]) for old in file.lines if old.number in rules and old.number in after]
    return {old.number: _repair(old, new, rules[old.number]) for old, new in kept if _is_kept(old, new)}, now


def _whole(file: CrontabFile) -> Iterator[Line]:
    """The lines that are physical ones: some crons read one in pieces, or several as one."""
    physical = physical_lines(file.to_bytes())
    return (line for line in file.lines if physical[line.number - 1 : line.number] == [line.raw])


def _errors(findings: Sequence[Finding], path: str) -> Iterator[Finding]:
    for finding in findings:
        if finding.place.path == path and finding.severity is Severity.ERROR and not finding.suppressed:
            yield finding


def _repair(old: Line, new: Line, rules: Sequence[str]) -> Repair:
    return Repair(old=old.raw, new=new.raw, rules=tuple(rules), entry=new if isinstance(new, Entry) else None)


def _fixed(line: Line, errors: Sequence[Finding]) -> tuple[bytes, str] | None:
    """What the first rule that can makes of a line, and its name. What is said of a whole file is said of each broken line."""
    for finding in errors:
        whole_file = finding.entry is None and isinstance(line, Entry | Malformed)
        if whole_file or finding.place.line == line.number:
            fixed = rule_named(finding.rule).fix(line)
            if fixed is not None and fixed != line.raw and fixed.count(b"\n") == 1:
                return fixed, finding.rule
    return None


def _read(file: CrontabFile, text: bytes) -> CrontabFile:
    user = next((entry.user for entry in file.entries), None) if Kind(file.kind) is Kind.USER else None
    return parse(text, path=file.path, dialect=dialect_named(file.dialect), kind=Kind(file.kind), user=user)


def _is_kept(old: Line, new: Line) -> bool:
    """An entry stays the entry of its user at its times; what was none may become one."""
    if not isinstance(old, Entry):
        return not isinstance(new, Malformed)
    return isinstance(new, Entry) and new.user == old.user and same_schedule(old.schedule, new.schedule)


def as_repaired(verdicts: Sequence[Verdict], found: Mapping[str, RepairedFile]) -> tuple[Verdict, ...]:
    """The verdicts, each with the entry that would be converted."""

    def entry(verdict: Verdict) -> Entry:
        repair = found.get(verdict.path, NO_REPAIRS).converted.get(verdict.entry.number)
        return repair.entry if repair and repair.entry else verdict.entry

    return tuple(replace(verdict, entry=entry(verdict)) for verdict in verdicts)
