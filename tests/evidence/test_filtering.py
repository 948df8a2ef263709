"""A sieved log gives the same evidence as one that is read line by line."""

import gzip
from pathlib import Path

import pytest

from cron2queue.evidence import emission, filtering, messages
from cron2queue.evidence.log_format import LogFormat
from cron2queue.evidence.reading import new_formats
from cron2queue.evidence.runs import Run

from .looking import look

NOISE = "Nov 30 11:06:01 web1 systemd[1]: Started session of somebody, who is of no interest here.\n"
JOB = "Nov 30 11:{0:02}:01 web1 CRON[{1}]: (root) CMD ([{2}] job)\nNov 30 11:{0:02}:03 web1 CRON[{1}]: (root) END ([{2}] job)\n"


def large_log(path: Path) -> Path:
    with path.open("w") as log:
        for minute in range(60):
            log.write(JOB.format(minute, 100 + minute * 2, 101 + minute * 2))
            log.write(NOISE * 4_000)
    return path


def seen(path: Path) -> list[Run]:
    return look(path)[1]


def test_both_ways_see_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = large_log(tmp_path / "syslog")
    assert path.stat().st_size > filtering.SMALLEST
    sieved = seen(path)
    monkeypatch.setattr(emission, "worth_sieving", lambda *given: False)
    assert sieved == seen(path)
    assert len(sieved) == 60


def test_without_grep_all_lines_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = large_log(tmp_path / "syslog")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert len(seen(path)) == 60


def test_a_grep_that_does_not_work_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = large_log(tmp_path / "syslog")
    broken = tmp_path / "bin" / "grep"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 2\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:/usr/bin:/bin")
    assert len(seen(path)) == 60


def test_a_large_compressed_log_is_not_sieved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "syslog.gz"
    packed.write_bytes(gzip.compress(large_log(tmp_path / "plain").read_bytes(), 1))
    monkeypatch.setattr(filtering, "SMALLEST", 1_000)
    assert len(seen(packed)) == 60


@pytest.mark.parametrize("each", new_formats(), ids=lambda each: each.name)
def test_every_line_of_a_syslog_format_passes_the_sieve(each: LogFormat) -> None:
    marks = [mark.decode() for mark in messages.MARKS]
    for tag in each.tags:
        assert any(mark in tag.decode() for mark in marks), f"{tag!r} holds none of {marks}"
