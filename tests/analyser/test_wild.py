"""Crontabs as people write them, and files that are none: read as meant, warned of what is wrong, judged as expected.

`wild.json` holds for each file of `wild/` how it is read, every finding above a note (line and code), and the decisions.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from judged import judged
from report.test_json_and_sarif import AUDIT_SCHEMA, check_sarif

from cron2queue.analyser.audit import Audit
from cron2queue.analyser.finding import Severity
from cron2queue.cli.sources import read
from cron2queue.report.columns import columns
from cron2queue.report.reporter import RenderOptions, all_reporters

WILD = sorted((Path(__file__).parent / "wild").iterdir())
EXPECTED: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "wild.json").read_text(encoding="utf-8"))

wild = pytest.mark.parametrize("path", WILD, ids=lambda path: path.name)


def audited(path: Path) -> Audit:
    (file,) = read([str(path)]).files
    return judged(file)


def test_every_file_has_its_expectation() -> None:
    assert {path.name for path in WILD} == set(EXPECTED)
    assert len(WILD) >= 45


@wild
def test_it_is_read_warned_of_and_judged_as_expected(path: Path) -> None:
    result = audited(path)
    (file,) = result.files
    grave = (each for each in result.findings if each.severity.rank <= Severity.WARNING.rank)
    decided = {verdict.entry.number: str(verdict.decision) for verdict in result.verdicts}
    assert {
        "read": f"{file.dialect} {file.kind}",
        "loaded": file.loaded,
        "found": sorted(f"{each.place.line or 0} {each.code}" for each in grave),
        "decided": " ".join(f"{number}:{decided[number]}" for number in sorted(decided)),
    } == EXPECTED[path.name]


@wild
def test_its_counts_add_up(path: Path) -> None:
    result = audited(path)
    (file,) = result.files
    assert file.counts["lines"] == sum(number for name, number in file.counts.items() if name != "lines")
    assert len(result.verdicts) == file.counts["entries"]
    standing = [each for each in result.findings if each.suppressed is None]
    assert result.summary.error + result.summary.warning + result.summary.note == len(standing)
    if result.load is not None:
        assert result.load.planned_peak <= result.load.peak


@wild
def test_every_format_of_it_is_sound(path: Path) -> None:
    result = audited(path)
    texts = {each.name: each.render(result, RenderOptions(width=80, why=True, verbose=True)) for each in all_reporters()}
    assert [line for line in texts["terminal"].splitlines() if columns(line) > 80] == []
    jsonschema.Draft202012Validator(AUDIT_SCHEMA).validate(json.loads(texts["json"]))
    check_sarif(json.loads(texts["sarif"]))
    assert not any(mark in text for text in texts.values() for mark in ("\x1b", "S3cr3tPw", "hunter22", "p4ss w0rd"))
