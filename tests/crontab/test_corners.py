"""What the daemons' own loaders made of files in which random comparison showed that a reader takes the wrong turn."""

import pytest

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import CrontabFile, Effect, Kind
from cron2queue.crontab.parser import parse
from cron2queue.crontab.schedule import Calendar

SATURDAY = 1 << 6


def read(data: bytes, dialect: str, kind: Kind = Kind.USER) -> CrontabFile:
    user = None if kind is Kind.SYSTEM else "root"
    return parse(data, path="x", dialect=dialect_named(dialect), kind=kind, user=user, users={"root", "daemon"})


def commands(file: CrontabFile) -> list[str]:
    return [entry.command for entry in file.entries]


@pytest.mark.parametrize(
    ("dialect", "written", "value"),
    [
        ("debian", "\"'x'\"", "x"),
        ("debian", "'\"a b\"'", "a b"),
        ("debian", "\"''\"", ""),
        ("debian", '"\'x"', "'x"),
        ("debian", '"\'"', "'"),
        ("debian", "\"'x' \"", "x"),
        ("debian", "''", ""),
        ("cronie", "\"'x'\"", "'x'"),
        ("freebsd", "\"'x'\"", "'x'"),
    ],
)
def test_debian_takes_a_second_pair_of_quotes_off_a_value(dialect: str, written: str, value: str) -> None:
    file = read(f"A={written}\n* * * * * x\n".encode(), dialect)
    assert file.entries[0].environment["A"] == value


@pytest.mark.parametrize(("length", "loaded"), [(993, True), (994, True), (995, False)])
def test_debian_reads_998_bytes_of_a_line_as_an_assignment(length: int, loaded: bool) -> None:
    assert read(b'A="' + b"y" * length + b'"\n', "debian").loaded == loaded
    cut = read(b"A \t= " + b"y" * 1500 + b"\n* * * * * x\n", "debian").entries[0].environment["A"]
    assert len(cut) == 998 - len("A \t= ")


@pytest.mark.parametrize("short", ["60~", "* 24~", "* * * * 8~"])
def test_cronie_takes_the_line_after_a_draw_that_is_empty_with_it(short: str) -> None:
    file = read(f"{short}\n@daily gone\n@daily next\n".encode(), "cronie")
    assert commands(file) == ["next"]
    assert [bad.number for bad in file.malformed] == [1, 2]


@pytest.mark.parametrize("fine", ["60~ * * * * x", "60~,5", "5~", "* * * * 8~,1"])
def test_cronie_takes_no_other_line_with_it(fine: str) -> None:
    assert commands(read(f"{fine}\n@daily next\n".encode(), "cronie"))[-1] == "next"


def test_a_nul_behind_the_user_ends_the_command_of_cronie_and_the_rest_is_a_line() -> None:
    file = read(b"* * * * * root\0* * * * * daemon y\n", "cronie", Kind.SYSTEM)
    assert [(entry.user, entry.command) for entry in file.entries] == [("root", ""), ("daemon", "y")]


def test_cronie_counts_the_entries_that_it_refuses_among_the_most_that_it_reads() -> None:
    assert read(b"61 * * * * x\n" * 10_000, "cronie").loaded
    assert not read(b"61 * * * * x\n" * 10_000 + b"* * * * * x\n", "cronie").loaded


def test_the_days_that_may_be_drawn_have_sunday_at_both_ends() -> None:
    for dialect in ("cronie", "openbsd"):
        schedule = read(b"* * * * 5~ x\n", dialect).entries[0].schedule
        assert isinstance(schedule, Calendar)
        assert schedule.possible is not None
        assert schedule.possible[4] == 1 << 7 | 1 << 6 | 1 << 5 | 1


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("@daily x # y", "x # y"),
        ("@daily x#y \t", "x#y \t"),
        (" \t@reboot  \va  b ", "a  b "),
        ("0 0 * * * x # y", "x"),
    ],
)
def test_busybox_takes_the_command_of_a_nickname_as_it_stands(line: str, command: str) -> None:
    assert commands(read(f"{line}\n".encode(), "busybox")) == [command]


def test_nothing_but_a_comment_behind_a_nickname_is_no_entry_for_busybox() -> None:
    assert commands(read(b"@daily # x\n@daily #x\n", "busybox")) == []


def test_an_empty_line_behind_two_backslashes_joins_the_next_one_for_busybox() -> None:
    assert commands(read(b"* * * * * x \\\\\n\n* * * * * y\n* * * * * z\n", "busybox")) == ["x * * * * * y", "z"]


@pytest.mark.parametrize(
    ("months", "bits", "saturday", "said"),
    [
        ("0", 0, True, True),
        ("0,6", 1 << 6, True, True),
        ("0-11", 1 << 11, False, True),
        ("1-12", 0x1FFE, False, False),
        ("*/10", 1 << 1 | 1 << 11, False, False),
    ],
)
def test_a_month_0_means_something_else_to_busybox(months: str, bits: int, saturday: bool, said: bool) -> None:
    file = read(f"0 0 * {months} 1 x\n".encode(), "busybox")
    schedule = file.entries[0].schedule
    assert isinstance(schedule, Calendar)
    assert (schedule.months, schedule.weekdays & SATURDAY > 0) == (bits, saturday)
    assert [(bad.column, bad.effect) for bad in file.malformed] == [(7, Effect.MISREAD)] * said
