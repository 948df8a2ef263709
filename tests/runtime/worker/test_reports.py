"""Progress, results and messages of a running job."""

import math
from random import Random

import pytest

from cron2queue.runtime.worker.reports import MAX_LINE, LineReader, Tracker


def tracked() -> tuple[Tracker, list[tuple[float | None, str]]]:
    told: list[tuple[float | None, str]] = []
    return Tracker(on_progress=lambda fraction, phase: told.append((fraction, phase))), told


def test_within_a_phase_the_fraction_only_grows() -> None:
    tracker, told = tracked()
    for fraction in (0.1, 0.5, 0.3, 0.5, 0.9):
        tracker.progress("rows", fraction)
    assert told == [(0.1, "rows"), (0.5, "rows"), (0.9, "rows")]


def test_a_new_phase_starts_anew_and_says_so() -> None:
    tracker, told = tracked()
    tracker.progress("rows", 0.9)
    tracker.progress("mail", 0.1)
    assert told == [(0.9, "rows"), (0.1, "mail")]


@pytest.mark.parametrize(("given", "told_as"), [(1.5, 1.0), (-1.0, 0.0), (math.nan, 0.0), (math.inf, 1.0)])
def test_a_fraction_out_of_bounds_is_moved_to_the_nearer_end(given: float, told_as: float) -> None:
    tracker, told = tracked()
    tracker.progress("x", given)
    assert told == [(told_as, "x")]


def test_lines_of_a_program_are_understood() -> None:
    tracker, told = tracked()
    assert tracker.take(b'{"progress": 0.4, "phase": "rows"}')
    assert tracker.take(b'{"result": "exports/42.csv"}')
    assert tracker.take(b'{"message": "42 rows"}')
    assert (told, tracker.result, tracker.message) == ([(0.4, "rows")], "exports/42.csv", "42 rows")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"[1]",
        b"3",
        b"null",
        b"{}",
        b'{"progress": "half"}',
        b'{"progress": true}',
        b'{"result": 3}',
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"a": ' * 20_000,
    ],
)
def test_a_line_that_says_nothing_understood_is_passed_over(line: bytes) -> None:
    tracker, told = tracked()
    assert not tracker.take(line)
    assert (told, tracker.result) == ([], None)


def test_a_result_is_a_reference_and_not_the_result_itself() -> None:
    tracker, _ = tracked()
    tracker.take(b'{"result": "' + b"x" * 5000 + b'"}')
    assert tracker.result is not None
    assert len(tracker.result) == 1024


def test_lines_come_out_whole_however_they_arrive() -> None:
    seed = Random().randrange(2**32)
    print("seed", seed)
    random = Random(seed)
    lines = [str(n).encode() * random.randrange(1, 30) for n in range(300)]
    data = b"\n".join(lines)
    seen: list[bytes] = []
    reader = LineReader(on_line=seen.append)
    while data:
        size = random.randrange(1, 50)
        reader.feed(data[:size])
        data = data[size:]
    reader.close()
    assert seen == lines


def test_a_line_without_end_is_dropped_and_costs_no_memory() -> None:
    seen: list[bytes] = []
    reader = LineReader(on_line=seen.append)
    for _ in range(200):
        reader.feed(b"x" * 10_000)
        assert len(reader._rest) <= MAX_LINE
    reader.feed(b"\nnext\n")
    assert seen == [b"next"]
