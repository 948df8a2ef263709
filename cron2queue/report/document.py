"""The audit as plain data with the keys of docs/reference/audit-json.md: the one source of json and of html's figures."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cron2queue import __version__
from cron2queue.crontab.describe import describe
from cron2queue.report.figures import runs_per_day
from cron2queue.report.shown import shown
from cron2queue.report.written import Each

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit, Load
    from cron2queue.analyser.finding import Finding
    from cron2queue.analyser.verdicts import Verdict
    from cron2queue.crontab.lines import CrontabFile
    from cron2queue.crontab.schedule import Schedule
    from cron2queue.evidence.book import EvidenceBook
    from cron2queue.evidence.statistics import Evidence

SCHEMA = 1
_MOST_LINES = 1 << 32  # more than any file holds

Document = dict[str, Any]


def document(audit: Audit) -> Document:
    """The whole audit, for `written.pieces`; every foreign text in it is redacted and safe, every number as measured."""
    load = audit.load
    return {
        "schema": SCHEMA,
        "tool": {"name": "cron2queue", "version": __version__},
        "at": audit.at.isoformat(),
        "timezone": shown(str(audit.zone)),
        "sources": Each(_source, audit.files),
        "evidence": _book(audit.book),
        "entries": Each(lambda verdict: _entry(audit, verdict), _in_reading_order(audit)),
        "findings": Each(_finding, audit.findings),
        "load": None if load is None else _load(load),
        "chains": [
            {"first": c.first, "then": c.then, "gap_seconds": c.gap_seconds, "broken_share": c.broken_share}
            for c in audit.chains
        ],
        "summary": {
            "error": audit.summary.error,
            "warning": audit.summary.warning,
            "note": audit.summary.note,
            "suppressed": audit.summary.suppressed,
        },
    }


def _in_reading_order(audit: Audit) -> list[Verdict]:
    order = {file.path: position * _MOST_LINES for position, file in enumerate(audit.files)}
    last = len(audit.files) * _MOST_LINES
    return sorted(audit.verdicts, key=lambda verdict: order.get(verdict.path, last) + verdict.entry.number)


def _source(file: CrontabFile) -> Document:
    return {
        "path": shown(file.path),
        "dialect": file.dialect,
        "kind": str(file.kind),
        "loaded": file.loaded,
        "why": None if file.why is None else shown(file.why),
        "counts": dict(file.counts),
    }


def _book(book: EvidenceBook) -> Document:
    window = book.window
    return {
        "available": book.available,
        "sources": [shown(source) for source in book.sources],
        "from": None if window is None else window.start.isoformat(),
        "until": None if window is None else window.end.isoformat(),
        "runs": book.runs,
        "matched": book.matched,
        "unmatched": book.unmatched,
        "skipped": [shown(part) for part in book.skipped],
    }


def _entry(audit: Audit, verdict: Verdict) -> Document:
    entry = verdict.entry
    evidence = audit.book.by_entry.get(verdict.entry_id)
    return {
        "id": verdict.entry_id,
        "path": shown(verdict.path),
        "line": entry.number,
        "name": shown(verdict.name),
        "schedule": shown(entry.schedule_text),
        "description": _described(entry.schedule),
        "user": None if entry.user is None else shown(entry.user),
        "command": shown(entry.command),
        "runs_per_day": round(runs_per_day(verdict), 6),
        "evidence": None if evidence is None else _evidence(evidence),
        "signs": {
            name: {"answer": str(sign.answer), "confidence": str(sign.confidence), "reason": shown(sign.reason)}
            for name, sign in verdict.signs
        },
        "decision": str(verdict.decision),
        "because": shown(verdict.because),
        "order": verdict.order,
    }


@lru_cache(maxsize=16384)
def _described(schedule: Schedule) -> str:
    return shown(describe(schedule))


def _evidence(evidence: Evidence) -> Document:
    """Without a known pairing only starts were seen, and nothing that is said of them is better than ambiguous."""
    return {
        "n": evidence.n,
        "confidence": str(evidence.pairing or "ambiguous"),
        "median_seconds": evidence.median_seconds,
        "p95_seconds": evidence.p95_seconds,
        "max_seconds": evidence.max_seconds,
        "failures": evidence.failures,
        "met_predecessor": evidence.met_predecessor,
        "silent": evidence.silent,
        "empty_share": None if evidence.empty is None else evidence.empty.share,
    }


def _finding(finding: Finding) -> Document:
    ignored = finding.suppressed
    return {
        "code": finding.code,
        "rule": finding.rule,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        "path": shown(finding.place.path),
        "line": finding.place.line,
        "column": finding.place.column,
        "entry": finding.entry,
        "message": shown(finding.message),
        "remedy": shown(finding.remedy),
        "fingerprint": finding.fingerprint,
        "suppressed": None
        if ignored is None
        else {"reason": shown(ignored.reason), "until": None if ignored.until is None else ignored.until.isoformat()},
    }


def _load(load: Load) -> Document:
    return {
        "day": load.day.isoformat(),
        "minutes": load.minutes,
        "alive": list(load.alive),
        "peak": {"at": load.peak_at.isoformat(), "alive": load.peak},
        "as_planned": {"peak": load.planned_peak},
    }
