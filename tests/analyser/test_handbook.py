"""The handbook and the reference made from it."""

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from cron2queue.analyser.handbook import SECTIONS, index, overview, page
from cron2queue.analyser.registry import all_rules, rule_named
from cron2queue.errors import UsageError
from cron2queue.evidence.statistics import Evidence

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.slug())
def test_a_page_has_all_that_a_reader_asks_for(rule: object) -> None:
    text = page(rule)  # type: ignore[arg-type]
    for part in (*SECTIONS, "severity", "how it is known", "daemons", "## Flagged"):
        assert part in text
    assert "\r" not in text
    assert "\ufeff" not in text


def test_what_was_measured_is_told_in_words() -> None:
    figures = {field.name for field in fields(Evidence)} | {"never_seen"}
    for rule in all_rules():
        said = [line for line in page(rule).splitlines() if line.startswith("measured")]
        assert not figures & set(re.findall(r"\w*_\w*", "\n".join(said)))
        assert not re.search(r"\bn \d|True|None|\w\(", "\n".join(said))
    assert "95 of 100 within 6m12s" in page(rule_named("C2Q401"))
    assert "measured for lines 1, 2, 3, 4, 5, 6 and 7: half" in page(rule_named("C2Q505"))
    assert "40 of 336 starts of line 2 met a run of line 1" in page(rule_named("C2Q402"))


def test_the_generated_reference_is_up_to_date() -> None:
    ran = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr + "\nrun: python docs/generate.py"


def test_lists_name_every_rule_once() -> None:
    for rule in all_rules():
        assert overview().count(rule.code) == 1
        assert index().count(f"({rule.code}.md)") == 1


def test_a_rule_is_found_by_code_and_by_name_in_any_case() -> None:
    assert rule_named("c2q301") is rule_named("Unescaped-Percent") is rule_named("unescaped_percent")


def test_an_unknown_rule_is_a_usage_error_that_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        rule_named("never-fire")
    assert "never-fires" in str(caught.value.remedy)
