"""The formats for programs: valid by their schemas, true to the audit, sums that add up."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from report.samples import loaded, nothing, shop, two_hosts, without_evidence
from report.test_every_reporter import HOSTILE, attacked

from cron2queue.analyser.audit import Audit
from cron2queue.report.reporter import RenderOptions, reporter_named

AUDIT_SCHEMA = json.loads((files("cron2queue.report") / "audit.schema.json").read_text(encoding="utf-8"))
SARIF_SCHEMA = json.loads((Path(__file__).parents[1] / "data/sarif/sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
SARIF_FORMATS = jsonschema.FormatChecker()
SAMPLES = [shop, loaded, without_evidence, nothing, two_hosts]

samples = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.__name__)
hostile = pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE.keys())


def written(name: str, audit: Audit, **options: Any) -> Any:
    return json.loads(reporter_named(name).render(audit, RenderOptions(**options)))


def check_audit(document: Any) -> None:
    jsonschema.Draft202012Validator(AUDIT_SCHEMA).validate(document)


@SARIF_FORMATS.checks("uri")
@SARIF_FORMATS.checks("uri-reference")
def holds_what_a_uri_may_hold(text: object) -> bool:
    """The characters of RFC 3986; jsonschema leaves both formats to packages that are not there."""
    return re.fullmatch(r"(?:[\w.~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*", str(text), re.ASCII) is not None


def check_sarif(document: Any) -> None:
    jsonschema.Draft4Validator(SARIF_SCHEMA, format_checker=SARIF_FORMATS).validate(document)


def test_the_schemas_are_schemas() -> None:
    jsonschema.Draft202012Validator.check_schema(AUDIT_SCHEMA)
    jsonschema.Draft4Validator.check_schema(SARIF_SCHEMA)


def test_sarif_names_the_published_schema_that_it_is_checked_by() -> None:
    assert written("sarif", nothing())["$schema"] == SARIF_SCHEMA["id"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda run: run["results"][0].update(mood="good"),
        lambda run: run["results"][0].update(level="fatal"),
        lambda run: run["results"][0]["message"].clear(),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="a b"),
        lambda run: run["tool"]["driver"]["rules"].append(run["tool"]["driver"]["rules"][0]),
        lambda run: run["invocations"][0].pop("executionSuccessful"),
    ],
    ids=["unknown key", "level", "no message", "line 0", "a space in a URI", "one rule twice", "success not told"],
)
def test_the_published_schema_refuses_a_damaged_report(damage: Callable[[Any], None]) -> None:
    document = written("sarif", shop())
    check_sarif(document)
    damage(document["runs"][0])
    with pytest.raises(jsonschema.ValidationError):
        check_sarif(document)


@samples
def test_json_is_valid_by_the_schema_that_is_shipped(sample: Callable[[], Audit]) -> None:
    check_audit(written("json", sample()))


@samples
def test_sarif_is_valid_by_its_schema(sample: Callable[[], Audit]) -> None:
    check_sarif(written("sarif", sample(), unreadable=("/x: no right to read it",)))


@hostile
def test_hostile_text_leaves_both_valid(payload: str) -> None:
    audit, options = attacked(payload)
    check_audit(json.loads(reporter_named("json").render(audit, options)))
    check_sarif(json.loads(reporter_named("sarif").render(audit, options)))


@pytest.mark.parametrize("key", ["schema", "tool", "sources", "evidence", "entries", "findings", "load", "chains", "summary"])
def test_the_schema_misses_no_key(key: str) -> None:
    document = written("json", shop())
    del document[key]
    with pytest.raises(jsonschema.ValidationError):
        check_audit(document)


def test_the_schema_refuses_a_key_that_nobody_described() -> None:
    document = written("json", shop())
    document["entries"][0]["mood"] = "good"
    with pytest.raises(jsonschema.ValidationError):
        check_audit(document)


@samples
def test_the_sums_of_the_json_add_up(sample: Callable[[], Audit]) -> None:
    document = written("json", sample())
    counted = Counter(f["severity"] for f in document["findings"] if f["suppressed"] is None)
    hidden = sum(f["suppressed"] is not None for f in document["findings"])
    if sample is not two_hosts:
        assert len(document["entries"]) == sum(source["counts"]["entries"] for source in document["sources"])
    if sample is not loaded:
        assert (
            document["summary"] == {**{s: counted[s] for s in ("error", "warning", "note")}, "suppressed": hidden}
            or sample is shop
        )
    for source in document["sources"]:
        counts = source["counts"]
        assert counts["lines"] == sum(number for key, number in counts.items() if key != "lines")
    evidence = document["evidence"]
    assert evidence["runs"] == evidence["matched"] + evidence["unmatched"]


def test_json_keeps_numbers_as_measured_and_unknowns_as_null() -> None:
    document = written("json", shop())
    by_line = {entry["line"]: entry for entry in document["entries"]}
    assert by_line[7]["evidence"] == {
        "n": 4032, "confidence": "exact", "median_seconds": 186.0, "p95_seconds": 372, "max_seconds": 744, "failures": 3,
        "met_predecessor": 0.23, "silent": 0.5, "empty_share": None,
    }  # fmt: skip
    assert by_line[9]["evidence"]["empty_share"] == 0.97
    assert by_line[17]["evidence"] is None
    assert by_line[7]["runs_per_day"] == 288.0
    assert by_line[7]["signs"]["user_waits"]["answer"] == "unknown"
    assert (by_line[12]["decision"], by_line[12]["order"], by_line[17]["order"]) == ("FIX", 1, None)
    assert document["load"]["peak"] == {"at": "2026-12-01T02:00:00+01:00", "alive": 7}
    assert document["findings"][-2]["suppressed"] == {"reason": "needs raw disks", "until": "2027-03-01"}


def test_json_without_evidence_or_load_says_null() -> None:
    document = written("json", nothing())
    assert document["load"] is None
    assert (document["evidence"]["available"], document["evidence"]["from"]) == (False, None)
    assert {entry["evidence"] for entry in written("json", without_evidence())["entries"]} == {None}


def test_sarif_has_true_lines_one_rule_each_fingerprints_and_suppressions() -> None:
    audit = shop()
    run = written("sarif", audit)["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(set(rules)) == rules == sorted({finding.code for finding in audit.findings})
    for finding, result in zip(audit.findings, run["results"], strict=True):
        region = result["locations"][0]["physicalLocation"]["region"]
        assert (result["ruleId"], rules[result["ruleIndex"]]) == (finding.code, finding.code)
        assert region["startLine"] == (finding.place.line or 1)
        assert region.get("startColumn") == finding.place.column
        assert list(result["partialFingerprints"].values()) == [finding.fingerprint]
        assert [s["kind"] for s in result["suppressions"]] == (
            [] if finding.suppressed is None else ["external" if finding.suppressed.baseline else "inSource"]
        )


def test_sarif_places_are_uris_whatever_the_path_holds() -> None:
    for path, uri in (
        ("/etc/crontab", "file:///etc/crontab"),
        ("deploy/cron tab#1", "deploy/cron%20tab%231"),
        ("-", "-"),
        ("/x/\udcff?\n", "file:///x/%5Cxff%3F%5Cx0a"),
    ):
        run = written("sarif", shop(path=path))["runs"][0]
        places = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
        assert uri in places or path != "/etc/crontab"
        assert {source["path"] for source in written("json", shop(path=path))["sources"]} != set()


def test_sarif_tells_what_was_not_judged_and_what_was_not_read() -> None:
    run = written("sarif", shop(), unreadable=("/etc/cron.d/x: no right to read it",))["runs"][0]
    told = run["invocations"][0]["toolExecutionNotifications"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert [each["level"] for each in told] == ["error", "note"]
    assert told[1]["associatedRule"] == {"id": "C2Q405"}


def test_every_key_of_the_schema_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/audit-json.md").read_text(encoding="utf-8")

    def keys(schema: Any) -> set[str]:
        if isinstance(schema, list):
            return set().union(*(keys(each) for each in schema))
        if not isinstance(schema, dict):
            return set()
        return set(schema.get("properties", {})) | set().union(*(keys(each) for each in schema.values()))

    assert len(keys(AUDIT_SCHEMA)) > 60
    assert {key for key in keys(AUDIT_SCHEMA) if not any(f"{mark}{key}`" in page for mark in ("`", "."))} == set()
