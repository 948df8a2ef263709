"""Any bytes whatever: nothing crashes the reader, nothing is lost, and the work grows with the input only."""

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import FrameType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cron2queue.crontab.anacrontab import parse_anacrontab
from cron2queue.crontab.describe import describe
from cron2queue.crontab.dialect import Dialect, dialects
from cron2queue.crontab.kinds import dialect_of_text, has_entries, kind_of_text
from cron2queue.crontab.lines import CrontabFile, Entry, Kind, entry_ids
from cron2queue.crontab.parser import parse

ALL = sorted(dialects())
EXAMPLES = settings(max_examples=300, deadline=None)

# Bytes that mean something to some daemon, in no order.
PIECES = st.sampled_from(
    [
        *[bytes([code]) for code in b"0123456789*-/,~#%@=\"'\\ \t\n\r\0LW?;:."],
        *[b"* * * * * ", b"0 0 1 1 * root x\n", b"@daily ", b"@reboot x\n", b"MAILTO=", b"CRON_TZ=Europe/Berlin\n", b"sat-sun"],
        *[b"\xff", b"\xef\xbb\xbf", b"\xc2\xa0", b"\x0b", b"*/0 ", b"99999999999999999999 ", b"-n ", b"\\\n", b"1-100000000 "],
    ]
)
CRONTABS = st.lists(st.one_of(PIECES, st.binary(max_size=6)), max_size=60).map(b"".join)


def read(data: bytes, name: str, kind: Kind) -> CrontabFile:
    return parse(data, path="any", dialect=dialects()[name], kind=kind, user="root" if kind is Kind.USER else None)


def readings(data: bytes) -> Iterator[CrontabFile]:
    for name in ALL:
        for kind in Kind:
            yield read(data, name, kind)


def check(file: CrontabFile, data: bytes) -> None:
    assert file.to_bytes() == data
    assert file.counts["lines"] == sum(count for name, count in file.counts.items() if name != "lines")
    assert file.loaded == (file.why is None)
    numbers = [line.number for line in file.lines]
    assert numbers == sorted(numbers)
    for bad in file.malformed:
        assert bad.column >= 1
        assert bad.message
        assert bad.remedy
    for entry in file.entries:
        assert describe(entry.schedule)
        assert entry.schedule.never_fires in (True, False)
        assert entry.command_column >= 1
    ids = entry_ids([file])
    assert len(set(ids.values())) == len(ids) == len(file.entries)


@EXAMPLES
@given(CRONTABS)
def test_what_was_read_is_written_back_byte_for_byte_and_the_lines_add_up(data: bytes) -> None:
    for file in readings(data):
        check(file, data)
    kind_of_text(data)
    dialect_of_text(data)


@EXAMPLES
@given(st.binary(max_size=300))
def test_bytes_that_are_no_crontab_at_all_are_read_too(data: bytes) -> None:
    for file in readings(data):
        check(file, data)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "data",
    [
        b"* * * * * a\r\n\r\n",
        b"\xef\xbb\xbf* * * * * a\n",
        b"a\0b\0\n\0",
        b"\xff\xfe\n",
        b"* * * * * a",
        b"\n\n\n",
        b"",
        b"\\\n\\\n",
    ],
)
def test_line_ends_marks_and_bad_bytes_are_kept(name: str, data: bytes) -> None:
    for kind in Kind:
        check(read(data, name, kind), data)


@pytest.mark.parametrize("name", ALL)
def test_an_edit_touches_its_own_line_only(name: str) -> None:
    lines = [b"A=1\r\n", b"  0 1 * * *\troot  x \n", b"# \xff\n", b"\t\n", b"0 2 * * * root y\n"]
    file = read(b"".join(lines), name, Kind.SYSTEM)
    changed = b"".join(b"# gone\n" if line.number == 2 else line.raw for line in file.lines)
    assert changed == b"".join([lines[0], b"# gone\n", *lines[2:]])


# --- the work is bounded by the input: bytecode instructions are counted, not seconds ------------------------------


def work_of(action: Callable[[], Any]) -> int:
    """Python lines executed: the same on a slow and on a fast machine."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


GROWING: dict[str, Callable[[int], bytes]] = {
    "entries": lambda n: b"*/5 1-4 * * mon-fri root x\n" * n,
    "distinct entries": lambda n: b"".join(b"%d %d * * * root x%d\n" % (i % 60, i % 24, i) for i in range(n)),
    "bad lines": lambda n: b"61 * * * * root x\n" * n,
    "slashes": lambda n: b"/" * n * 10 + b"\n",
    "commas": lambda n: b",".join([b"5"] * n * 5) + b" * * * * root x\n",
    "ranges": lambda n: b",".join([b"0-59/7"] * n * 3) + b" * * * * root x\n",
    "blanks": lambda n: b" " * n * 10 + b"* * * * * root x\n",
    "percents": lambda n: b"* * * * * root " + b"%" * n * 10 + b"\n",
    "backslashes": lambda n: b"* * * * * root " + b"\\" * n * 10 + b"\n",
    "quotes": lambda n: b"A=" + b'"' * n * 10 + b"\n",
    "equals": lambda n: b"=" * n * 10 + b"\n",
    "nuls": lambda n: b"\0" * n + b"\n",
    "joined lines": lambda n: b"a\\\n" * n,
    "assignments": lambda n: b"".join(b"A%d=%d\n* * * * * root x\n" % (i, i) for i in range(n // 8)),
}


@pytest.mark.parametrize("shape", GROWING)
@pytest.mark.parametrize("name", ALL)
def test_twice_the_input_is_at_most_about_twice_the_work(name: str, shape: str) -> None:
    small, large = GROWING[shape](200), GROWING[shape](800)
    read(small[:50], name, Kind.SYSTEM)
    work = [work_of(lambda data=data: read(data, name, Kind.SYSTEM)) for data in (small, large)]  # type: ignore[misc]
    assert work[1] <= 6 * work[0] + 2000


NONSENSE = [
    *[b"*/0", b"1-100000000", b"0-59/2147483647", b"1-2,*/0"],
    *[b"99999999999999999999", b"-", b"~", b"0~1000000000"],
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("field", NONSENSE)
def test_a_nonsense_field_is_an_error_with_its_place_or_a_small_set_never_an_expansion(name: str, field: bytes) -> None:
    data = field + b" * * * * root x\n"
    work = work_of(lambda: read(data, name, Kind.SYSTEM))
    assert work < 20_000
    file = read(data, name, Kind.SYSTEM)
    assert file.entries or [bad.number for bad in file.malformed] == [1] * len(file.malformed)
    assert file.entries or file.malformed[0].column >= 1


@pytest.mark.parametrize("name", ALL)
def test_a_line_of_ten_megabytes_and_a_hundred_thousand_lines_are_read(name: str) -> None:
    long = b"* * * * * root " + b"x" * 10_000_000 + b"\n"
    assert read(long, name, Kind.SYSTEM).to_bytes() == long
    count = 100_000 if name in ("debian", "busybox") else 10_000
    many = b"*/5 * * * * root /usr/bin/true\n" * count
    file = read(many, name, Kind.SYSTEM)
    assert len(file.lines) == count
    assert isinstance(file.lines[-1], Entry) or not file.loaded or name == "busybox"


HOSTILE = [
    *[b"1", b"a", b"*", b" ", b"1 ", b"# dow ", b"dow user ", b"A=x ", b"-", b"@"],
    *[b"~", b"0~", b"A = ", b"\t=", b"'", b"\\"],
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("end", [b"", b"x\n* * * * * x\n"])
def test_no_long_line_sends_an_expression_back_and_forth(piece: bytes, end: bytes) -> None:
    data = piece * (100_000 // len(piece)) + end
    assert parse_anacrontab(data, path="x", dialect="debian").to_bytes() == data
    assert all(file.to_bytes() == data for file in readings(data))
    for begin in (b"", b"# ", b"0 1 * * * ", b"A="):
        kind_of_text(begin + data)
        dialect_of_text(begin + data)
        assert has_entries(begin + data) in (True, False)


STRANGE = [
    *[b"9" * 5000, "²".encode(), "٣".encode(), b"-1", b"1e3"],
    *[b"\xff", b"../../etc/passwd", b"Europe", b"UTC+99"],
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("value", STRANGE)
def test_no_value_of_a_variable_that_a_daemon_looks_into_is_too_strange(name: str, value: bytes) -> None:
    variables = (b"RANDOM_DELAY", b"CRON_TZ", b"TZ", b"START_HOURS_RANGE", b"DELAY")
    data = b"".join(variable + b"=" + value + b"\n" for variable in variables) + b"@daily root x\n0 1 * * * root y\n"
    file = read(data, name, Kind.SYSTEM)
    check(file, data)
    for entry in file.entries:
        entry.schedule.next_fires(datetime(2026, 1, 1, tzinfo=UTC), ZoneInfo("UTC"), 2)


def test_a_dialect_declares_everything_that_the_reference_shows() -> None:
    for dialect in dialects().values():
        assert isinstance(dialect, Dialect)
        assert all((dialect.title, dialect.version, dialect.star_rule, dialect.blast_radius, dialect.__doc__))
