"""The JSON that programs rely on is the one that the reference page promises."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cron2queue.cli.screens.records import dead_record, job_record, status_record
from cron2queue.runtime.health import Judgement, Level
from cron2queue.runtime.sight.views import (
    ActionView,
    AttemptView,
    Count,
    DeadGroup,
    DeadView,
    JobView,
    KindView,
    LetterCount,
    LetterGroup,
    LettersView,
    MissedTick,
    PausedKind,
    QueueView,
    RunningView,
    StatusView,
    UnclaimedKind,
    WorkerView,
)

PAGE = (Path(__file__).resolve().parents[3] / "docs/reference/operators-json.md").read_text(encoding="utf-8")
NOW = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)
GROUP = DeadGroup(kind="k", error="e", count=1, first=NOW, last=NOW, example="8b2c")
RUNNING = RunningView(id="8b2c", kind="k", key=None, queue="q", seconds=1.0)
STATUS = StatusView(
    at=NOW,
    database="d",
    queues=(QueueView(queue="q", counts={"ready": Count(n=10_000, capped=True)}, kinds=(KindView(kind="k"),)),),
    workers=(
        WorkerView(
            worker="w", host="h", pid=1, version="1", queues=("q",), kinds=("k",), alive=True, beat_age=1.0, rss_bytes=1,
            started_at=NOW, running=(RUNNING,),
        ),
    ),
    unclaimed=(UnclaimedKind(queue="q", kind="k", jobs=Count(n=1)),),
    missed=(MissedTick(name="e", schedule="@daily", due=NOW, missed=1, last_seen=None),),
    paused_kinds=(PausedKind(kind="k", seconds=3.0),),
    dead=(GROUP,),
    dead_letters=(LetterCount(queue="q", reason="expired", n=1),),
)  # fmt: skip
LETTERS = LettersView(
    since=NOW, groups=(LetterGroup(kind="k", reason="r", count=1, last=NOW, example="", became={"goes out again": 1}),)
)
TROUBLE = Judgement(level=Level.WARNING, check="dead", subject="q", text="1 dead")
JOB = JobView(
    id="8b2c", kind="k", key=None, queue="q", state="dead", attempts=1, max_attempts=2,
    history=(AttemptView(attempt=1, worker="w", started_at=NOW, ended_at=NOW, outcome="permanent"),),
    actions=(ActionView(at=NOW, by="anna", action="requeue", target="8b2c"),),
)  # fmt: skip


def keys(record: Any) -> Iterator[str]:
    """Every key of a record, at any depth."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield key
            yield from keys(value)
    elif isinstance(record, list):
        for each in record:
            yield from keys(each)


def test_every_key_stands_on_the_reference_page() -> None:
    records = [status_record(STATUS, [TROUBLE]), job_record(JOB, detailed=True)]
    records.append(dead_record(DeadView(groups=(GROUP,), looked_at=1, total=Count(n=1)), LETTERS))
    told = set(re.findall(r"`([a-z_0-9]+)`", PAGE))
    assert set(keys(records)) - told == set()


def test_a_count_that_stopped_is_named() -> None:
    (queue,) = status_record(STATUS, [])["queues"]
    assert (queue["ready"], queue["capped"]) == (10_000, ["ready"])


def test_times_are_utc_with_microseconds() -> None:
    assert status_record(STATUS, [])["at"] == "2026-11-30T14:00:00.000000+00:00"
