"""Which start and which end belong together, in columns."""

from cron2queue.evidence.joining import Lines, alternating, joined


def lines(*each: tuple[int, str, str]) -> Lines:
    """Lines of (number, logger, child), one a second."""
    return Lines(
        [row for row, _, _ in each],
        [float(row) for row, _, _ in each],
        [pid.encode() for _, pid, _ in each],
        [child.encode() for _, _, child in each],
    )


def test_logger_and_child_join_start_and_end() -> None:
    found = joined(lines((0, "10", "11"), (1, "12", "13"), (4, "14", "15")), lines((2, "12", "13"), (3, "10", "11")), set())
    assert (found.ends.row, found.places) == ([2, 3], [1, 0])
    assert (found.waiting, found.strays) == ([2], [])


def test_an_end_without_its_start_is_left() -> None:
    found = joined(lines((1, "10", "11")), lines((0, "8", "9"), (2, "10", "11")), set())
    assert (found.ends.row, found.waiting, found.strays) == ([2], [], [0])


def test_a_logger_whose_number_is_used_again_is_left_with_all_its_lines() -> None:
    starts = lines((0, "10", "11"), (2, "10", "21"), (4, "12", "13"))
    found = joined(starts, lines((1, "10", "11"), (3, "10", "21"), (5, "12", "13")), set())
    assert (found.places, found.waiting, found.strays) == ([2], [0, 1], [1, 3])


def test_an_end_before_its_start_or_of_another_child_is_left() -> None:
    starts = lines((1, "10", "11"), (2, "12", "13"), (3, "14", "15"))
    found = joined(starts, lines((0, "10", "11"), (4, "12", "99"), (5, "14", "15")), set())
    assert (found.places, found.waiting, found.strays) == ([2], [0, 1], [0, 4])


def test_a_doubtful_logger_is_left() -> None:
    found = joined(lines((0, "10", "11"), (1, "12", "13")), lines((2, "10", "11"), (3, "12", "13")), {b"10"})
    assert (found.places, found.waiting, found.strays) == ([1], [0], [2])


def test_starts_and_ends_alternate_after_what_was_alive_before() -> None:
    assert alternating([1, 3, 5], [0, 2, 4]) == ([1, 3], [2, 4], [0, 5], 1)


def test_in_a_crowd_nothing_is_sure_until_none_is_alive() -> None:
    found = alternating([0, 2, 3, 6, 8], [1, 4, 5, 7])
    assert (found.starts, found.ends, found.left) == ([0, 6], [1, 7], [2, 3, 4, 5, 8])


def test_an_end_too_many_may_be_any_of_them_so_that_all_are_left() -> None:
    found = alternating([0, 3], [1, 2, 4])
    assert (found.starts, found.ends, found.left, found.leading) == ([], [], [0, 1, 2, 3, 4], 0)
