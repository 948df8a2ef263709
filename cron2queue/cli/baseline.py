"""The baseline: findings that are known and wait, by fingerprint, so that only new ones count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from cron2queue.errors import UsageError
from cron2queue.redaction import redact
from cron2queue.text import safe_text

if TYPE_CHECKING:
    from cron2queue.analyser.audit import Audit

_SCHEMA = 1


def read_baseline(path: Path) -> frozenset[str]:
    """Fingerprints from a baseline file.

    Raises:
        UsageError: the file is missing or is no baseline.
    """
    try:
        known = json.loads(path.read_bytes())
        if known["schema"] != _SCHEMA:
            remedy = "write it anew with --write-baseline"
            raise UsageError(f"has schema {known['schema']!r}, and {_SCHEMA} is known here", place=str(path), remedy=remedy)
        return frozenset(str(each["fingerprint"]) for each in known["findings"])
    except OSError as error:
        raise UsageError(
            f"cannot be read: {error.strerror}", remedy="write it with --write-baseline", place=str(path)
        ) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError("is no baseline", remedy="write it anew with --write-baseline", place=str(path)) from error


def baseline_text(audit: Audit) -> str:
    """A baseline of every finding that counts today; code and message stand there for the people who review it."""
    known = [
        {"fingerprint": fingerprint, "code": finding.code, "message": safe_text(redact(finding.message))}
        for finding in audit.findings
        if finding.suppressed is None or finding.suppressed.baseline
        for fingerprint in finding.folds or (finding.fingerprint,)
    ]
    known.sort(key=lambda each: (each["code"], each["fingerprint"]))
    return json.dumps({"schema": _SCHEMA, "findings": known}, indent=1, ensure_ascii=False) + "\n"
