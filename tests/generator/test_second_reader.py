"""The new crontab read by somebody else's reader: python-crontab finds in it the entries that it finds by our own."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crontab import CronTab

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Entry, Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import Calendar

Convert = Callable[..., Any]
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/shop/generated/crontab.new"
LINES = {
    "queue": "*/5 * * * * root bin/work --all >> /var/log/w.log 2>&1\n",
    "split": "7,37 2-4 * jan-mar 1-5 root bin/work 'a b'\n",
    "guard": "@daily root cd /srv && bin/work | tee -a log\n",
    "drop": "0 3 * * * root bin/work\n",
    "keep": "15 */4 1 * * root bin/work && date +\\%F\n",
}


def ours(text: str) -> list[tuple[str | None, str, str]]:
    file = parse(text.encode(), path="crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    assert not file.malformed
    return [(entry.user, _schedule(entry), entry.command.strip()) for entry in file.entries]


def _schedule(entry: Entry) -> str:
    return entry.schedule_text if isinstance(entry.schedule, Calendar) else entry.schedule_text.lower()


def theirs(text: str) -> list[tuple[str | None, str, str]]:
    with contextlib.redirect_stdout(io.StringIO()):
        table = CronTab(tab=text, user=False)
    return [(job.user, str(job.slices), job.command.strip()) for job in table if job.is_enabled() and job.is_valid()]


def starts(entries: list[tuple[str | None, str, str]]) -> list[tuple[str | None, str]]:
    return [(user, command) for user, _, command in entries]


@pytest.mark.parametrize("shadow", [False, True])
@pytest.mark.parametrize("decision", LINES)
def test_each_kind_of_change_is_read_alike(convert: Convert, tmp_path: Path, decision: str, shadow: bool) -> None:
    name = convert(LINES[decision]).merged.plan.jobs[0].name
    prepared = convert(LINES[decision], decisions={name: decision}, shadow=shadow)
    assert prepared.draft.refused == {}
    text = (tmp_path / "out/crontab.new").read_text()
    assert starts(theirs(text)) == starts(ours(text))
    if decision not in ("keep", "drop"):
        assert text != LINES[decision]
    assert {schedule for _, schedule, _ in theirs(text)} == {schedule for _, schedule, _ in ours(text)}


def test_the_example_is_read_alike_but_for_the_range_that_it_cannot_read() -> None:
    text = EXAMPLE.read_text()
    readable = [entry for entry in ours(text) if entry[1] != "0 22-2 * * *"]
    assert len(readable) > 15
    assert starts(theirs(text)) == starts(readable)
