"""sarif: SARIF 2.1.0 for code scanning, with true lines, one rule each, fingerprints and suppressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

from cron2queue import __version__
from cron2queue.report.reporter import RenderOptions, Reporter
from cron2queue.report.shown import shown
from cron2queue.report.written import Each, pieces
from cron2queue.text import to_bytes

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit
    from cron2queue.analyser.finding import Finding, NotJudged, Place, Suppression

_HOME = "https://github.com/cron2queue/cron2queue"
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FINGERPRINT = "cron2queueEntry/v1"

Node = dict[str, Any]


class SarifReporter(Reporter):
    """Suppressed findings are in it and marked, so that the consumer counts them as such."""

    name: ClassVar[str] = "sarif"

    def write(self, audit: Audit, options: RenderOptions) -> Iterator[str]:
        """One run of one tool."""
        rules = _rules(audit)
        index = {rule["id"]: position for position, rule in enumerate(rules)}
        run = {
            "tool": {"driver": {"name": "cron2queue", "version": __version__, "informationUri": _HOME, "rules": rules}},
            "invocations": [_invocation(audit, options)],
            "columnKind": "unicodeCodePoints",
            "results": Each(lambda finding: _result(finding, index), audit.findings),
        }
        log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
        return pieces(log, ascii_only=options.ascii)


def _rules(audit: Audit) -> list[Node]:
    """One for each code that is used, with its page from the handbook as help."""
    from cron2queue.analyser.handbook import page
    from cron2queue.analyser.registry import all_rules

    used = {finding.code: finding for finding in audit.findings}
    known = {rule.code: rule for rule in all_rules()}
    return [_rule(used[code], page(known[code]) if code in known else "") for code in sorted(used)]


def _rule(finding: Finding, text: str) -> Node:
    name = finding.rule.replace("-", " ")
    rule: Node = {
        "id": finding.code,
        "name": "".join(word.capitalize() for word in finding.rule.split("-")),
        "shortDescription": {"text": name},
        "defaultConfiguration": {"level": str(finding.severity)},
        "properties": {"tags": ["cron", str(finding.confidence)]},
    }
    if text:
        rule["fullDescription"] = {"text": next((line for line in text.splitlines() if line and line[0] not in "#`"), name)}
        rule["help"] = {"text": text, "markdown": text}
    return rule


def _invocation(audit: Audit, options: RenderOptions) -> Node:
    unread = [_notification("error", reason) for reason in options.unreadable]
    return {
        "executionSuccessful": not unread,
        "toolExecutionNotifications": [*unread, *(_not_judged(each) for each in audit.not_judged)],
    }


def _not_judged(each: NotJudged) -> Node:
    return {**_notification("note", f"{each.code} was not judged: {each.reason}"), "associatedRule": {"id": each.code}}


def _notification(level: str, text: str) -> Node:
    return {"level": level, "message": {"text": shown(text)}}


def _result(finding: Finding, index: dict[str, int]) -> Node:
    words = [finding.message, finding.evidence, f"Remedy: {finding.remedy}" if finding.remedy else ""]
    result: Node = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": str(finding.severity),
        "message": {"text": "\n".join(shown(each) for each in words if each)},
        "locations": [_location(finding.place, finding.source_line)],
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
        "properties": {"confidence": str(finding.confidence)},
    }
    if finding.related:
        result["relatedLocations"] = [{"id": n, **_location(place, None)} for n, place in enumerate(finding.related, 1)]
    result["suppressions"] = [] if finding.suppressed is None else [_suppression(finding.suppressed)]
    return result


def _suppression(suppression: Suppression) -> Node:
    until = f" (until {suppression.until.isoformat()})" if suppression.until else ""
    return {
        "kind": "external" if suppression.baseline else "inSource",
        "status": "accepted",
        "justification": shown(suppression.reason) + until,
    }


def _location(place: Place, source_line: str | None) -> Node:
    region: Node = {"startLine": place.line or 1}
    if place.column is not None:
        region["startColumn"] = place.column
        if place.end_column is not None and place.end_column > place.column:
            region["endColumn"] = place.end_column
    if source_line is not None:
        region["snippet"] = {"text": shown(source_line)}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.path)}, "region": region}}


def _uri(path: str) -> str:
    """Relative paths stay relative to the repository; bytes that no URI holds are escaped."""
    escaped = quote(to_bytes(shown(path)), safe="/._-~")
    return f"file://{escaped}" if escaped.startswith("/") else escaped
