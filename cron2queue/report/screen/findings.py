"""The findings, worst first: one line each, its source line where a place in it is meant, how it is known, the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cron2queue.report.columns import columns
from cron2queue.report.figures import alike, all_places, grouped, split_kin, standing
from cron2queue.report.screen.ink import LETTERS, STYLES, Ink, hanging, heading, joined, styled
from cron2queue.report.screen.line import Line
from cron2queue.report.shown import excerpt

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding

Group = list["Finding"]
_KIN = 3  # so many findings of one rule and remedy are shown each; of more, all but two are counted
_REASONS = 3  # why rules could not look; with more, only their codes are named


def section(audit: Audit, ink: Ink) -> list[Line]:
    """All standing findings; those that say the same of several lines are one, and equal notes are folded to a count."""
    groups = grouped(standing(audit), fold_notes=not ink.verbose)
    if not groups:
        return []
    code = groups[0][0].code
    lines = heading(ink, "FINDINGS", f"worst first; `cron2queue explain {code}` tells why, shows the evidence and the remedy")
    before = None
    for kin in alike(groups):
        severity = kin[0][0].severity
        each, rest = split_kin(kin, len(kin) if ink.verbose else _KIN)
        for group in each:
            lines += [] if severity == before == "note" and not ink.verbose else [Line()]
            lines += _block(group, ink)
            before = severity
        lines += _more_of_the_kind(rest, ink) if rest else []
    return [*lines, *_not_judged(audit, ink)]


def _more_of_the_kind(rest: Group, ink: Ink) -> list[Line]:
    """What differs from the findings above only in whom it is about."""
    where = ink.places.of_many(all_places(rest), ink.text)
    indent = " " * (11 if ink.width >= 60 else 3)
    said = f"+ {len(rest)} more of {rest[0].code}: {where}; --verbose shows each"
    return [styled(row, "quiet") for row in hanging(said, ink.width, first=indent)]


def _block(group: Group, ink: Ink) -> list[Line]:
    """A note is one line and its remedy, unless all is asked for."""
    first = group[0]
    indent = 11 if ink.width >= 60 else 3
    brief = first.severity == "note" and not ink.verbose
    lines = _headline(group, indent, ink, certain=brief or not first.evidence)
    if not brief and len(group) == 1 and first.source_line is not None:
        lines += _frame(first, indent, ink) if first.place.column is not None or first.severity == "error" else []
    lines += [] if brief else _known(first, indent, ink)
    if first.remedy:
        lines += [Line(row) for row in hanging(ink.text(first.remedy), ink.width, first=" " * indent + "= remedy  ")]
    if others := [finding for finding in group if finding.message != first.message]:
        where = ink.places.of_many(all_places(others), ink.text)
        more = f"= and {len(others)} more like it: {where}; --verbose shows each"
        lines += [styled(row, "quiet") for row in hanging(more, ink.width, first=" " * indent)]
    return lines


def _headline(group: Group, indent: int, ink: Ink, *, certain: bool) -> list[Line]:
    first = group[0]
    place = ink.places.of_many(all_places(finding for finding in group if finding.message == first.message), ink.text)
    head = f" {LETTERS[first.severity]} {first.code}  "
    lead = f"{place}  " if columns(place) < ink.width // 3 else place
    rows = hanging(lead + ink.text(first.message), ink.width, first=head, rest=" " * indent)
    if columns(place) >= ink.width // 3:
        rows = [
            *hanging(place, ink.width, first=head, rest=" " * indent),
            *hanging(ink.text(first.message), ink.width, first=" " * indent),
        ]
    lines = [Line(row) for row in rows]
    lines[0].stylize(STYLES[first.severity], 1, len(head) - 2)
    return _with_certainty(lines, str(first.confidence), ink) if certain else lines


def _with_certainty(lines: list[Line], certain: str, ink: Ink) -> list[Line]:
    """The last line with the confidence at its right end, or below when there is no room."""
    gap = ink.edge - columns(lines[-1].plain) - columns(certain)
    if gap < 2 and columns(lines[-1].plain) + 3 + columns(certain) <= ink.width:
        gap = 3
    if gap >= 2:
        lines[-1].append(" " * gap).append(certain, style=STYLES["quiet"])
        return lines
    return [*lines, styled(" " * max(0, ink.edge - columns(certain)) + certain, "quiet")]


def _known(finding: Finding, indent: int, ink: Ink) -> list[Line]:
    if not finding.evidence:
        return []
    lines = [Line(row) for row in hanging(ink.text(finding.evidence), ink.width, first=" " * indent + "= ")]
    return _with_certainty(lines, str(finding.confidence), ink)


def _frame(finding: Finding, indent: int, ink: Ink) -> list[Line]:
    number = str(finding.place.line or "")
    gutter = " " * indent + number
    room = ink.width - len(gutter) - 3
    piece = excerpt(finding.source_line or "", room, finding.place.column, finding.place.end_column, ascii_only=ink.ascii)
    lines = [joined(gutter, (" | ", "quiet"), piece.text)]
    if piece.end > piece.start:
        caret = "^" * (piece.end - piece.start)
        lines.append(joined(" " * len(gutter), (" | ", "quiet"), " " * piece.start, (caret, finding.severity)))
    return lines


def _not_judged(audit: Audit, ink: Ink) -> list[Line]:
    """Rules that could not look, so that silence is not taken for a clean bill."""
    by_reason: dict[str, list[str]] = {}
    for each in audit.not_judged:
        codes = by_reason.setdefault(each.reason, [])
        if each.code not in codes:
            codes.append(each.code)
    lines: list[Line] = []
    if len(by_reason) > _REASONS and not ink.verbose:
        codes = sorted({each.code for each in audit.not_judged})
        said = f"not judged, for want of evidence or of the host itself: {', '.join(codes)}; --verbose tells why"
        return [Line(), *(styled(row, "quiet") for row in hanging(said, ink.width, first=" - "))]
    for reason, codes in by_reason.items():
        said = f"not judged: {', '.join(codes)}: {ink.text(reason)}"
        lines += [styled(row, "quiet") for row in hanging(said, ink.width, first=" - ")]
    return [Line(), *lines] if lines else []
