"""Every kind of file is read as far as it can be, in the right order, and what cannot be is named."""

import bz2
import gzip
import lzma
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import zstandard

from cron2queue.evidence.blocks import BLOCK, LONGEST_LINE, Limits, Tale, blocks
from cron2queue.evidence.inputs import LogFile, log_sets

from .looking import NOW, look, look_at

LINE = b"Nov 30 11:06:01 web1 CRON[78]: (root) CMD ([82] job)\nNov 30 11:06:04 web1 CRON[78]: (root) END ([82] job)\n"


def read(path: Path, limits: Limits | None = None) -> tuple[bytes, Tale]:
    tale = Tale()
    return b"".join(blocks(LogFile(path=path, size=path.stat().st_size), tale, limits or Limits())), tale


def line(day: int, pid: int) -> bytes:
    return b"Nov %2d 11:06:01 web1 CRON[%d]: (root) CMD ([%d] job %d)\n" % (day, pid, pid + 1, day)


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("syslog.gz", gzip.compress(LINE, mtime=0)),
        ("syslog.xz", lzma.compress(LINE)),
        ("syslog.bz2", bz2.compress(LINE)),
        ("syslog.zst", zstandard.compress(LINE)),
        ("syslog", LINE),
        ("two-members.gz", gzip.compress(LINE[:60], mtime=0) + gzip.compress(LINE[60:], mtime=0)),
        ("wrongly-named.txt", gzip.compress(LINE, mtime=0)),
    ],
)
def test_each_compression_is_read(tmp_path: Path, name: str, packed: bytes) -> None:
    _, runs = look_at(tmp_path, packed, name=name)
    assert [(run.command, run.seconds) for run in runs] == [("job", 3)]


@pytest.mark.parametrize(
    "names",
    [
        ("syslog.10.gz", "syslog.2.gz", "syslog.1", "syslog"),
        ("syslog-20261101.gz", "syslog-20261108", "syslog-20261129", "syslog"),
        ("cron.log.20261101", "cron.log.20261108", "cron.log.20261120", "cron.log"),
    ],
)
def test_a_rotated_set_is_read_oldest_first(tmp_path: Path, names: tuple[str, ...]) -> None:
    for age, name in enumerate(names):
        data = line(age * 8 + 1, 100 * age + 100)
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (found,), skipped = log_sets([tmp_path])
    assert [file.path.name for file in found.files] == list(names)
    assert skipped == ()


def test_a_run_over_a_rotation_is_one_run(tmp_path: Path) -> None:
    first, second = LINE.splitlines(keepends=True)
    (tmp_path / "syslog.1").write_bytes(first)
    (tmp_path / "syslog").write_bytes(second)
    _, runs = look(tmp_path)
    assert [run.seconds for run in runs] == [3]


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "syslog").write_bytes(LINE)
    (tmp_path / "link").symlink_to(tmp_path / "syslog")
    book, _ = look(tmp_path, tmp_path / "syslog")
    assert book.runs == 1


def test_a_truncated_file_gives_what_came_before(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(line(day, day) for day in range(1, 29)) + os.urandom(50_000).hex().encode())
    book, runs = look_at(tmp_path, whole[: len(whole) // 2], name="syslog.gz")
    assert len(runs) == 28
    assert any("damaged" in why for why in book.skipped)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress], ids=["gz", "xz", "zst"])
def test_a_bomb_is_left_and_named(tmp_path: Path, pack: object) -> None:
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(pack(LINE + bytes(30 << 20)))  # type: ignore[operator]
    tale = Tale()
    size = sum(map(len, blocks(LogFile(path=bomb, size=1), tale, Limits(slack=4 << 20))))
    assert size <= 6 << 20
    assert "grows more than" in tale.skipped[0]


def test_a_line_of_ten_megabytes_is_cut_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a" * 10_000_000 + b"\n" + LINE)
    data, tale = read(path)
    assert len(data) < LONGEST_LINE + BLOCK
    assert data.endswith(LINE.rstrip())
    assert tale.long_lines == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bytes(range(256)) * 40, "a binary file"),
        (bytes(5000), "no start of a job"),
        (b"LPKSHHRH" + bytes(100), "journalctl -o json"),
        (b"__CURSOR=s=0ae9;i=1\n_PID=80\nMESSAGE\n\x04\x00\x00\x00\x00\x00\x00\x00caf\xe9\n\n", "export format"),
        (b"SQLite format 3\x00" + bytes(100), "--observations"),
        (b"PK\x03\x04" + bytes(100), "a zip archive"),
    ],
)
def test_what_is_no_log_is_named(tmp_path: Path, data: bytes, why: str) -> None:
    book, runs = look_at(tmp_path, data)
    assert runs == []
    assert any(why in each for each in book.skipped), book.skipped


def test_zero_bytes_of_a_crash_do_not_hide_the_rest(tmp_path: Path) -> None:
    _, runs = look_at(tmp_path, LINE + bytes(3_000) + b"\n" + LINE.replace(b"11:06", b"11:07"))
    assert len(runs) == 2


def test_pipes_and_missing_files_are_named_and_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    book, _ = look(tmp_path / "fifo", tmp_path / "none")
    assert any("not a regular file" in why for why in book.skipped)
    assert any("No such file" in why for why in book.skipped)


def test_an_empty_log_is_no_evidence_of_anything(tmp_path: Path) -> None:
    book, _ = look_at(tmp_path, b"")
    assert not book.available
    assert book.never_seen == ()
    assert "no run of a job was found" in book.how_to_get_evidence


def test_bytes_that_are_not_utf_8_stay_apart(tmp_path: Path) -> None:
    _, runs = look_at(tmp_path, LINE.replace(b"job", b"caf\xe9"))
    assert runs[0].command == "caf\udce9"
    assert runs[0].seconds == 3


@pytest.mark.parametrize(
    ("modified", "stamp", "year"),
    [
        (datetime(2024, 5, 2), "Apr 30", 2024),  # an old log, kept as it was
        (datetime(2026, 11, 30), "Apr 30", 2026),
        (datetime(2026, 11, 30), "Dec 14", 2025),  # copied: its lines cannot be later than the report
    ],
)
def test_the_year_is_the_latest_that_the_file_can_have(tmp_path: Path, modified: datetime, stamp: str, year: int) -> None:
    path = tmp_path / "syslog"
    path.write_bytes(LINE.replace(b"Nov 30", stamp.encode()))
    os.utime(path, (modified.timestamp(), modified.timestamp()))
    _, (run,) = look(path)
    assert run.started.year == year


def test_a_log_that_is_later_than_its_file_is_bounded_by_the_report(tmp_path: Path) -> None:
    path = tmp_path / "syslog"
    path.write_bytes(LINE.replace(b"Nov 30", b"Dec 14"))
    os.utime(path, (NOW.timestamp(), NOW.timestamp()))
    _, (run,) = look(path, at=NOW + timedelta(days=15))
    assert run.started.year == 2026


def test_a_name_with_a_date_tells_the_year(tmp_path: Path) -> None:
    path = tmp_path / "syslog-20230601"
    path.write_bytes(LINE.replace(b"Nov 30", b"May 14"))
    _, (run,) = look(path)
    assert run.started.year == 2023


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + LINE,
        b"\x00" * 9_000 + LINE,
        LINE.replace(b"\n", b"\n" + b"\x00" * 70_000, 1),
        LINE.replace(b"\n", b"\r\n"),
        LINE.rstrip(b"\n"),
        LINE.replace(b"CRON[78]", b"CRON"),
    ],
    ids=["mark of UTF-8", "zeros in front", "zeros between", "carriage returns", "no last line feed", "no process number"],
)
def test_what_stands_around_the_lines_hides_none_of_them(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "syslog").write_bytes(text)
    _, runs = look(tmp_path)
    assert [run.seconds for run in runs] == [3]


@pytest.mark.parametrize("stamp", ["Nov 30 11:06:60", "2026-11-30T11:06:60.5+00:00"])
def test_a_leap_second_is_a_time(tmp_path: Path, stamp: str) -> None:
    text = f"{stamp} web1 CRON[78]: (root) CMD ([82] job)\n"
    (tmp_path / "syslog").write_text(text)
    book, runs = look(tmp_path)
    assert (len(runs), book.skipped) == (1, ())
