"""Puts one finding in the place of several that say the same of one file and are low in value each."""

from collections.abc import Iterable, Mapping

from cron2queue.analyser.finding import Finding, Place, Severity
from cron2queue.analyser.rule import Rule


def folded(rules: Mapping[str, Rule], findings: Iterable[Finding]) -> list[Finding]:
    """The findings of one file, those that their rule folds folded; silenced ones stay as they are."""
    groups: dict[tuple[str, Severity], list[Finding]] = {}
    result: list[Finding] = []
    for finding in findings:
        if finding.suppressed is None:
            groups.setdefault((finding.code, finding.severity), []).append(finding)
        else:
            result.append(finding)
    for (code, _), group in groups.items():
        words = rules[code].fold(group) if len(group) > 1 else None
        result.extend(group if words is None else [_one(group, *words)])
    return result


def _whole_line(place: Place) -> Place:
    return place if place.column is None else Place(path=place.path, line=place.line)


def _one(group: list[Finding], message: str, remedy: str) -> Finding:
    first = group[0]
    return first.but(
        message=message,
        remedy=remedy,
        place=_whole_line(first.place),
        related=tuple(_whole_line(each.place) for each in group[1:]),
        folds=tuple(each.fingerprint for each in group),
        entry=None,
        raw=None,
        detail="folded",
    )
