"""Every log format reads its own samples, as they stand and among other lines."""

import re
from pathlib import Path

import pytest

from cron2queue.discovery import members
from cron2queue.evidence.log_format import LogFormat, Sample
from cron2queue.evidence.runs import Run

from .looking import LOGS, look, look_at

FORMATS = members("cron2queue.evidence.log_formats", LogFormat)
SAMPLES = [
    pytest.param(each, sample, id=f"{each.name} {number}") for each in FORMATS for number, sample in enumerate(each.samples)
]


def shown(run: Run) -> tuple[object, ...]:
    pairing = run.pairing.value if run.ended or run.at_least is not None else None
    return (run.user, run.command, run.seconds, run.exit_status, run.signal, run.output or None, pairing)


def expected(sample: Sample) -> list[tuple[object, ...]]:
    return [
        (run.user, run.command, run.seconds, run.exit_status, run.signal, run.output or None, run.pairing)
        for run in sample.runs
    ]


@pytest.mark.parametrize(("each", "sample"), SAMPLES)
def test_a_format_reads_its_own_samples(tmp_path: Path, each: type[LogFormat], sample: Sample) -> None:
    _, runs = look_at(tmp_path, sample.lines)
    assert sorted(map(shown, runs), key=repr) == sorted(expected(sample), key=repr)
    assert {run.source for run in runs} <= {each.name, "debian", "debian -L 15"}


@pytest.mark.parametrize(("each", "sample"), SAMPLES)
def test_a_sample_cut_anywhere_gives_no_traceback(tmp_path: Path, each: type[LogFormat], sample: Sample) -> None:
    for length in range(0, len(sample.lines), 7):
        book, _ = look_at(tmp_path, sample.lines[:length])
        assert book.runs == book.matched + book.unmatched


def test_every_format_tells_what_it_is() -> None:
    assert len({each.name for each in FORMATS}) == len(FORMATS) >= 11
    for each in FORMATS:
        assert each.__doc__
        assert each.samples


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_the_tags_of_a_format_hold_no_groups(each: type[LogFormat]) -> None:
    for tag in each.tags:
        assert re.compile(tag).groups == 0


def test_debian_with_ends_gives_every_duration_and_status() -> None:
    book, runs = look(LOGS / "debian-L15-herd.log")
    assert book.runs == len(runs) == 12
    by_command = {run.command: run for run in runs if run.ended}
    assert by_command["exit 7"].exit_status == 7
    assert by_command["kill -9 $$"].signal == 9
    assert by_command["sleep 2; date +%F # cron.d^Ijob "].seconds == 2


def test_a_herd_at_the_default_level_gives_bounds_that_hold_the_truth() -> None:
    _, runs = look(LOGS / "debian-L1-herd.log")
    truth = {"sleep 3; echo hi": 3, "kill -9 $$": 0, "exit 7": 0, "sleep 2; date +%F # cron.d^Ijob ": 2}
    judged = 0
    for run in runs:
        if run.command not in truth:
            continue
        if run.seconds is not None:
            judged += 1
            assert abs(run.seconds - truth[run.command]) <= 1, run
        elif run.at_least is not None:
            judged += 1
            assert run.at_least <= truth[run.command] + 1, run
            assert run.at_most is None or run.at_most >= truth[run.command], run
    assert judged >= 8


def test_cronie_gives_durations_and_what_wrote_something() -> None:
    _, runs = look(LOGS / "cronie-1.7.2.log")
    ended = [run for run in runs if run.ended]
    assert len(runs) == 175
    assert len(ended) >= 150
    assert all(run.output for run in ended if run.command == "echo hello-stdout")


def test_what_busybox_prints_without_stamps_is_named_as_not_usable() -> None:
    book, runs = look(LOGS / "busybox-crond-d8.log")
    assert runs == []
    assert not book.available
    assert any("no time stamp" in why for why in book.skipped)
