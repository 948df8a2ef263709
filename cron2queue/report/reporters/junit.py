"""junit: for CI servers that only know tests; one suite a crontab, one case an entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar
from xml.sax.saxutils import escape, quoteattr

from cron2queue.crontab.lines import EntryPlace, place_of
from cron2queue.report.figures import all_places, reaches
from cron2queue.report.reporter import RenderOptions, Reporter
from cron2queue.report.shown import shown

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding


@dataclass(slots=True, kw_only=True)
class _Case:
    """One entry, or a place without one, and all findings there."""

    name: str
    path: str
    findings: list[Finding] = field(default_factory=list)

    def failures(self, fail_on: str) -> list[Finding]:
        return [each for each in self.findings if each.suppressed is None and reaches(each.severity, fail_on)]

    @property
    def skipped(self) -> bool:
        return bool(self.findings) and all(each.suppressed is not None for each in self.findings)


class JunitReporter(Reporter):
    """A case fails when a finding of it reaches --fail-on; what is below is its output, what is suppressed is skipped."""

    name: ClassVar[str] = "junit"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """Tests, failures and skipped of the suites add up to those of the whole."""
        cases = _cases(audit)
        paths = dict.fromkeys([file.path for file in audit.files] + [case.path for case in cases])
        suites: dict[str, list[_Case]] = {path: [] for path in paths}
        for case in cases:
            suites[case.path].append(case)
        yield f"""<?xml version="1.0" encoding="UTF-8"?>\n<testsuites{_totals("cron2queue audit", cases, options)}>\n"""
        for path, members in suites.items():
            yield f"  <testsuite{_totals(path, members, options)}>\n"
            yield from (f"{line}\n" for case in members for line in _case(case, options))
            yield "  </testsuite>\n"
        yield "</testsuites>\n"


def _attributes(**values: str | int) -> str:
    return "".join(f" {name}={quoteattr(shown(str(value)))}" for name, value in values.items())


def _totals(name: str, cases: list[_Case], options: RenderOptions) -> str:
    failures = sum(bool(case.failures(options.fail_on)) for case in cases)
    return _attributes(name=name, tests=len(cases), failures=failures, errors=0, skipped=sum(case.skipped for case in cases))


def _cases(audit: Audit) -> list[_Case]:
    """One for each entry, in the order of verdicts, and one for each other place that a finding names."""
    cases: dict[EntryPlace, _Case] = {
        place_of(verdict.path, verdict.entry): _Case(name=f"line {verdict.entry.number} {verdict.name}", path=verdict.path)
        for verdict in sorted(audit.verdicts, key=lambda verdict: (verdict.path, verdict.entry.number))
    }
    for finding in audit.findings:
        for place in all_places([finding]):
            name = f"line {place.line}" if place.line else "the file"
            cases.setdefault((place.path, place.line or 0), _Case(name=name, path=place.path)).findings.append(finding)
    return list(cases.values())


def _case(case: _Case, options: RenderOptions) -> Iterator[str]:
    head = f"    <testcase{_attributes(name=case.name, classname=case.path)}"
    if not case.findings:
        yield f"{head}/>"
        return
    yield f"{head}>"
    failures = case.failures(options.fail_on)
    for finding in failures:
        yield f"      <failure{_attributes(type=finding.code, message=finding.message)}>{_details(finding)}</failure>"
    if case.skipped:
        reasons = "; ".join(each.suppressed.reason for each in case.findings if each.suppressed is not None)
        yield f"      <skipped{_attributes(message=reasons)}/>"
    rest = [each for each in case.findings if each.suppressed is None and each not in failures]
    if rest:
        yield f"      <system-out>{chr(10).join(_details(each) for each in rest)}</system-out>"
    yield "    </testcase>"


def _details(finding: Finding) -> str:
    place = finding.place.but(path=shown(finding.place.path))
    said = shown(f"{finding.code} {finding.severity} {finding.message} ({finding.confidence})")
    words = (
        finding.source_line or "",
        finding.evidence,
        f"remedy: {finding.remedy}" if finding.remedy else "",
    )
    return "\n".join(map(escape, [f"{place}: {said}", *(shown(each) for each in words if each)]))
