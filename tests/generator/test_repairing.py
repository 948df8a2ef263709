"""Broken lines put right by the rules that found them: entries that stay, line ends of those that are converted, and lines
that are no entries, so that a file which cron ignores is read again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse
from cron2queue.plan.blocks import found_blocks, restored

Convert = Callable[..., Any]
WORK = "*/5 * * * * root bin/work\n"
IGNORED = {
    "empty assignment": "MAILTO=\n" + WORK,
    "no newline at the end": WORK + "0 4 * * * root bin/other",
    "byte order mark": "\ufeff# jobs\n" + WORK,
    "Windows line ends": "SHELL=/bin/sh\r\n\r\n*/5 * * * * root bin/work\r\n",
    "all of them": "\ufeffMAILTO=\r\n\r\n*/5 * * * * root bin/work\r\n0 4 * * * root bin/$(date +%F)",
}


def loads(text: bytes) -> bool:
    return parse(text, path="crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM).loaded


@pytest.mark.parametrize("text", IGNORED.values(), ids=IGNORED)
def test_a_file_that_cron_ignores_is_read_again_when_its_lines_are_put_right(
    text: str, convert: Convert, tmp_path: Path
) -> None:
    assert not loads(text.encode())
    prepared = convert(text)
    new = (tmp_path / "out/crontab.new").read_bytes()
    assert loads(new)
    assert prepared.draft.refused == {}
    assert prepared.draft.revived == {"/etc/crontab"}
    review = (tmp_path / "out/REVIEW.md").read_text()
    assert "is ignored as a whole today" in review
    assert restored(new, {block.content for block in found_blocks(new)}).rstrip(b"\n") == text.encode().rstrip(b"\n")


@pytest.mark.parametrize("text", IGNORED.values(), ids=IGNORED)
def test_after_a_repair_the_next_conversion_builds_on_it(text: str, convert: Convert, tmp_path: Path) -> None:
    convert(text)
    repaired = (tmp_path / "out/crontab.new").read_bytes()
    again = convert(repaired)
    assert (again.draft.changes, again.draft.mended, again.draft.refused) == ((), (), {})
    assert (tmp_path / "out/crontab.new").read_bytes() == repaired
    queued = convert(repaired, decisions={"work": "queue"})
    assert queued.draft.refused == {}
    new = (tmp_path / "out/crontab.new").read_bytes()
    assert b"enqueue work" in new
    assert restored(new) == repaired


def test_a_file_with_a_line_that_no_rule_can_put_right_stays_refused(convert: Convert) -> None:
    prepared = convert("MAILTO=\n61 * * * * root bin/other\n" + WORK.replace("work", "$(date +%F)"))
    assert prepared.draft.revived == frozenset()
    assert "ignores the whole file" in next(iter(prepared.draft.refused.values()))


@pytest.mark.parametrize("decision", ["queue", "split", "guard"])
def test_a_converted_entry_gets_its_line_end_put_right_and_its_command_as_it_was(
    decision: str, convert: Convert, tmp_path: Path
) -> None:
    text = "*/5 * * * * root bin/work $(date +%F)\r\n"
    name = convert(text).merged.plan.jobs[0].name
    prepared = convert(text, decisions={name: decision})
    assert prepared.draft.refused == {}
    job = prepared.merged.plan.jobs[0].settings
    assert (job.command, job.stdin) == ("bin/work $(date +", "F)\n")
    new = (tmp_path / "out/crontab.new").read_bytes()
    assert b"\r" not in new.splitlines()[-1]
    assert restored(new) == text.encode()
    assert "put right first (carriage-returns)" in (tmp_path / "out/REVIEW.md").read_text().replace("\\", "")


def test_entries_that_stay_have_every_fault_of_their_line_put_right(convert: Convert, tmp_path: Path) -> None:
    convert("0 3 * * * root bin/work > log-$(date +%F)\r\n0 4 * * * root bin/other\r\n")
    new = (tmp_path / "out/crontab.new").read_text().splitlines()
    assert "0 3 * * * root bin/work > log-$(date +\\%F)" in new
    assert "0 4 * * * root bin/other" in new
    markers = [line for line in new if line.startswith("# cron2queue")]
    assert [marker.startswith("# cron2queue repaired the next line on ") for marker in markers] == [True, True]


def test_a_finding_that_was_ignored_with_a_reason_repairs_nothing(convert: Convert, tmp_path: Path) -> None:
    text = "# cron2queue: ignore[C2Q301] the rest is its input\n0 3 * * * root bin/work > log-$(date +%F)\n"
    rule = convert(text.partition("\n")[2]).draft.changes[0].note
    assert "unescaped-percent" in rule
    convert(text)
    assert (tmp_path / "out/crontab.new").read_text() == text
