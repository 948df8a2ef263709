"""The reference page of the plan names every key, and its table of policies is what the engines say."""

import re
from pathlib import Path

from cron2queue.generator.engine import engines
from cron2queue.plan.keys import PROJECT_WORDS
from cron2queue.runtime.settings import GENERATOR_KEYS, JOB_KEYS, PROJECT_KEYS, QUEUE_KEYS, TABLES, Overlap

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/plan.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def named(text: str) -> set[str]:
    """The keys in the first column of a table."""
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {key for cell in cells for key in re.findall("`([a-z-]+)`", cell)}


def test_every_key_is_explained() -> None:
    assert named(section("[project]")) == PROJECT_KEYS
    assert GENERATOR_KEYS < set(PROJECT_WORDS) < PROJECT_KEYS
    assert {name for name in TABLES if f"[{name}" in PAGE} == TABLES - {"format-version"}
    assert named(section("[queues.NAME]")) == set(QUEUE_KEYS)
    assert named(section("[jobs.NAME]")) == set(JOB_KEYS)


def test_the_policies_of_the_engines_are_as_the_page_says() -> None:
    rows = [line.strip("| ").split(" | ") for line in section("Overlap, by engine").splitlines() if line.startswith("|")]
    names, body = rows[0][2:], rows[2:]
    assert set(names) == {name for name in engines() if name in names}
    assert [row[0].strip("`") for row in body] == list(Overlap)
    for row in body:
        policy = Overlap(row[0].strip("`"))
        for name, cell in zip(names, row[2:], strict=True):
            assert (cell == "yes") is (engines()[name].overlaps[policy] == ""), (policy, name)
