"""Figures and names as people read them: durations, counts, places, what becomes of an entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from cron2queue.analyser.templates import is_template_file
from cron2queue.analyser.wording import count

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit, Lane, Load
    from cron2queue.analyser.finding import Finding, Place
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.crontab.schedule import Schedule
    from cron2queue.evidence.statistics import Evidence

_DECISION_WORDS = (
    ("QUEUE", "to queue"),
    ("SPLIT", "to split"),
    ("GUARD", "to guard"),
    ("FIX", "to repair"),
    ("DROP", "to switch off"),
    ("ASK", "to decide"),
    ("KEEP", "to leave alone"),
)
_KINDS = (
    ("entries", "entry"),
    ("assignments", "assignment"),
    ("comments", "comment"),
    ("blank", "blank"),
    ("malformed", "malformed"),
)
counted = count
IGNORED = "cron ignores this file"
_YEAR = 365.2425
_UNITS = ((1, "day"), (7, "week"), (_YEAR, "year"))


def per_day(runs: float) -> str:
    """Runs a day: a whole number with separators; below one, how many a year."""
    if runs <= 0:
        return "0"
    if runs < 0.95:
        yearly = runs * _YEAR
        return f"{yearly:.0f}/yr" if yearly >= 0.95 else f"{yearly:.1g}/yr"
    return f"{runs:,.0f}" if abs(runs - round(runs)) < 0.05 or runs >= 10 else f"{runs:,.1f}"


def starts(runs: float) -> tuple[str, str]:
    """Starts a day in words, and the unit of time in which they are a number: `3,747 starts` a `day`, `1 start` a `week`."""
    per, unit = next(((runs * days, unit) for days, unit in _UNITS if runs * days >= 0.95), (runs * _YEAR, "year"))
    if not runs:
        return "0 starts", "day"
    number = f"{per:.1g}" if per < 0.95 else f"{per:,.0f}" if per >= 10 or abs(per - round(per)) < 0.05 else f"{per:,.1f}"
    return f"{number} start{'' if number == '1' else 's'}", unit


def share(part: float) -> str:
    """A share of one as percent, never rounded to nothing or to all."""
    percent = part * 100
    if 0 < percent < 1:
        return "<1%"
    return ">99%" if 99 < percent < 100 else f"{percent:.0f}%"


def contents(counts: Mapping[str, int]) -> list[str]:
    """What the lines of a file are, in words: `28 entries`, `1 assignment`, `2 blank`; what there is none of is left out."""
    return [f"{counts[key]:,} {key}" if word == key else counted(counts[key], word) for key, word in _KINDS if counts[key]]


def runs_per_day(verdict: Verdict) -> float:
    """How often the entry starts on a mean day, by its schedule; an @reboot entry counts for nothing."""
    return _runs_per_day(verdict.entry.schedule)


@lru_cache(maxsize=16384)
def _runs_per_day(schedule: Schedule) -> float:
    return float(getattr(schedule, "runs_per_day", 0.0))


def evidence_of(audit: Audit, verdict: Verdict) -> Evidence | None:
    """What was measured for the entry, if anything."""
    return audit.book.by_entry.get(verdict.entry_id)


def decisions(audit: Audit) -> list[tuple[int, str]]:
    """How many entries come to each decision, in words and in a fixed order; the numbers add up to all entries."""
    found = Counter(str(verdict.decision) for verdict in audit.verdicts)
    return [(found[name], words) for name, words in _DECISION_WORDS if found[name]]


def standing(audit: Audit) -> list[Finding]:
    """The findings that count: neither ignored by a comment nor in the baseline."""
    return [finding for finding in audit.findings if finding.suppressed is None]


def failing(audit: Audit, fail_on: str) -> int:
    """How many findings are at or above the threshold; none for "never"."""
    return sum(reaches(finding.severity, fail_on) for finding in standing(audit))


def reaches(severity: str, fail_on: str) -> bool:
    """True when a finding of this severity fails at this threshold."""
    ladder = ("error", "warning", "note")
    return fail_on in ladder and ladder.index(severity) <= ladder.index(fail_on)


def source_name(path: str) -> str:
    """What a source is called where there is room."""
    return "standard input" if path == "-" else path


def ignored(file: CrontabFile) -> str | None:
    """Why cron runs nothing of the file; None where it reads it, and where the file is a template that it never sees."""
    return None if file.loaded or is_template_file(file) else file.why or "no reason known"


def remarks(file: CrontabFile) -> list[str]:
    """What was assumed of the file, and whether it is a crontab yet."""
    template = ["a template, and no crontab yet: render it first"] if not file.loaded and is_template_file(file) else []
    return [*template, *file.notes]


def split_kin(kin: Sequence[list[Finding]], most: int) -> tuple[Sequence[list[Finding]], list[Finding]]:
    """Those of a kind that are shown each, and the findings that are only counted; errors are never just counted."""
    if len(kin) <= most or kin[0][0].severity == "error":
        return kin, []
    return kin[: most - 1], [finding for group in kin[most - 1 :] for finding in group]


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """For each path the shortest end that tells it apart from the others: `crontab`, `cron.d/php`, `web1/crontab`."""
    unique = sorted(set(paths))
    often = Counter(end for path in unique for end in {path, *_ends(path.split("/"))})
    return {path: next((end for end in _ends([p for p in path.split("/") if p]) if often[end] == 1), path) for path in unique}


def _ends(parts: Sequence[str]) -> Iterator[str]:
    """The paths that the last parts make: one of them, two, up to all."""
    return ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))


def all_places(findings: Iterable[Finding]) -> list[Place]:
    """The places of findings, those included that a folded one stands for."""
    return [place for finding in findings for place in (finding.place, *(finding.related if finding.folds else ()))]


def telling_lanes(load: Load, most: int) -> tuple[list[Lane], int]:
    """The lanes that explain the load, in their order, and how many are left out.

    Those that are alive at the peak come before the others, and what takes much time in all before what takes little.
    """

    def telling(lane: Lane) -> tuple[bool, float]:
        length = max(lane.seconds or 0.0, 60.0)
        at_peak = any(0 <= (load.peak_at - start).total_seconds() < length for start in lane.starts)
        return at_peak, len(lane.starts) * length

    lanes = [lane for lane in load.lanes if lane.starts]
    kept = {id(lane) for lane in sorted(lanes, key=telling, reverse=True)[:most]}
    return [lane for lane in lanes if id(lane) in kept], max(0, len(lanes) - len(kept))


def grouped(findings: Iterable[Finding], *, fold_notes: bool = False) -> list[list[Finding]]:
    """In the given order; together stand those that say the same of several lines, and folded also all notes of one rule."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        same_words = (finding.message, finding.evidence, finding.remedy)
        folded = fold_notes and finding.severity == "note"
        key = (finding.code, finding.severity, finding.confidence, *(() if folded else same_words))
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def alike(groups: Sequence[list[Finding]]) -> list[list[list[Finding]]]:
    """Neighbouring groups of one rule with one remedy, together: they differ only in whom they are about."""
    together: list[list[list[Finding]]] = []
    for group in groups:
        before = together[-1][0][0] if together else None
        first = group[0]
        if before and (before.code, before.severity, before.remedy) == (first.code, first.severity, first.remedy):
            together[-1].append(group)
        else:
            together.append([group])
    return together


class Places:
    """How places are called in one report: `line 12` when there is one file, `crontab:12` when there are more."""

    def __init__(self, audit: Audit) -> None:
        self._names = short_names([file.path for file in audit.files])
        self.one_file = len(audit.files) <= 1

    def of(self, path: str, line: int | None, say: Callable[[str], str]) -> str:
        """A place in few characters; `say` makes the path safe, by itself: the line behind `token:` is no secret."""
        if self.one_file:
            return f"line {line}" if line is not None else "file"
        name = say(self._names.get(path, path))
        return f"{name}:{line}" if line is not None else name

    def of_many(self, places: Sequence[Place], say: Callable[[str], str]) -> str:
        """Several places, lines of one file joined to ranges: `lines 6-11, 13`, `crontab:6-11,13 php:2`."""
        by_path: dict[str, list[int]] = {}
        for place in places:
            by_path.setdefault(place.path, []).extend([] if place.line is None else [place.line])
        if self.one_file:
            lines = next(iter(by_path.values()), [])
            return f"line{'s' if len(set(lines)) > 1 else ''} {ranges(lines)}" if lines else "file"
        return " ".join(
            f"{self.of(path, None, say)}:{ranges(lines, ',')}" if lines else self.of(path, None, say)
            for path, lines in by_path.items()
        )


def ranges(numbers: Sequence[int], comma: str = ", ") -> str:
    """`6-11, 13`"""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return comma.join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
