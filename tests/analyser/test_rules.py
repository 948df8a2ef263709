"""Every rule, with no exemptions: its examples, its code, its docstring."""

import re

import pytest

from cron2queue.analyser.commands import read_command
from cron2queue.analyser.daemons import DAEMONS
from cron2queue.analyser.examples import example_of, files_of, subject_of
from cron2queue.analyser.finding import Confidence, Finding, Severity
from cron2queue.analyser.registry import all_rules
from cron2queue.analyser.rule import Example, Rule, ScheduleRule
from cron2queue.crontab.dialect import dialects
from cron2queue.crontab.lines import Line
from cron2queue.text import to_text

RULES = all_rules()
SECTIONS = ("Why it matters", "What to do", "Not flagged")
FAMILIES = "12345"


def findings_of(rule: Rule, example: str | Example) -> list[Finding]:
    return [answer for answer in rule.answers(subject_of(example)) if isinstance(answer, Finding)]


def cases(which: str) -> list[object]:
    return [
        pytest.param(rule, example, id=f"{rule.slug()}-{at}")
        for rule in RULES
        for at, example in enumerate(getattr(rule, which))
    ]


@pytest.mark.parametrize(("rule", "example"), cases("bad"))
def test_an_answer_does_not_depend_on_what_is_still_remembered_of_the_command(rule: Rule, example: str | Example) -> None:
    found = findings_of(rule, example)
    read_command.cache_clear()
    assert findings_of(rule, example) == found


@pytest.mark.parametrize(("rule", "example"), cases("bad"))
def test_a_bad_example_is_flagged_with_place_message_and_remedy(rule: Rule, example: str | Example) -> None:
    found = findings_of(rule, example)
    assert found
    for finding in found:
        assert finding.code == rule.code
        assert finding.rule == rule.slug()
        assert finding.place.path
        for words in (finding.message, finding.remedy):
            assert words
            assert "\n" not in words
            assert not words.endswith(".")


@pytest.mark.parametrize(("rule", "example"), cases("good"))
def test_a_good_example_is_not_flagged(rule: Rule, example: str | Example) -> None:
    assert findings_of(rule, example) == []


@pytest.mark.parametrize(("rule", "example"), cases("bad"))
def test_a_fix_leaves_nothing_to_flag_where_it_applies(rule: Rule, example: str | Example) -> None:
    files = files_of(example_of(example))
    fixed = [rule.fix(line) for file in files for line in file.lines]
    if not any(part is not None for part in fixed):
        return
    text = to_text(b"".join(_kept(line, part) for line, part in zip(files[0].lines, fixed, strict=False)))
    whole = example_of(example)
    again = Example(text, dialect=whole.dialect, kind=whole.kind, path=whole.path, host=whole.host)
    assert findings_of(rule, again) == []


def _kept(line: Line, part: bytes | None) -> bytes:
    return line.raw if part is None else part


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug())
def test_the_docstring_has_a_sentence_and_the_sections_in_order(rule: Rule) -> None:
    text = type(rule).__doc__ or ""
    first = text.split("\n\n")[0].strip()
    assert first.endswith(".")
    assert "\n" not in first
    places = [text.find(f"\n    {section}\n") for section in SECTIONS]
    assert all(place > 0 for place in places)
    assert places == sorted(places)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug())
def test_a_rule_declares_a_code_of_a_family_a_severity_a_confidence_and_known_dialects(rule: Rule) -> None:
    assert re.fullmatch(rf"C2Q[{FAMILIES}]\d\d", rule.code)
    assert isinstance(rule.severity, Severity)
    assert isinstance(rule.confidence, Confidence)
    assert rule.dialects
    assert rule.dialects <= set(DAEMONS)
    assert (type(rule).__module__.rpartition(".")[2]).replace("_", "-") == rule.slug()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.slug())
def test_a_rule_applies_to_a_dialect_that_its_bad_examples_show(rule: Rule) -> None:
    shown = {example_of(example).dialect for example in rule.bad}
    assert shown <= rule.dialects


def test_codes_and_slugs_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.slug() for rule in RULES}) == len(RULES)


def test_every_family_has_rules() -> None:
    assert {rule.code[3] for rule in RULES} == set(FAMILIES)


def test_the_facts_of_the_daemons_cover_every_dialect() -> None:
    assert set(DAEMONS) == set(dialects())


@pytest.mark.parametrize("rule", [rule for rule in RULES if isinstance(rule, ScheduleRule)], ids=lambda rule: rule.slug())
def test_a_rule_of_schedules_is_silent_whatever_the_line_runs(rule: ScheduleRule) -> None:
    for subject in map(subject_of, (*rule.bad, *rule.good)):
        for file, entry in subject.entries:
            other = entry.but(command="date", command_text="date", user="nobody", environment={"TZ": "Asia/Tokyo"})
            assert bool([*rule.look(subject, file, entry)]) == bool([*rule.look(subject, file, other)])
