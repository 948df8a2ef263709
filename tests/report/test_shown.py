"""Foreign text on its way into a report: masked, made visible, measured, cut: in this order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.report.columns import columns, fitted, folded
from cron2queue.report.figures import counted, per_day, ranges, share, short_names, starts
from cron2queue.report.shown import excerpt, marked, shown

anything = st.text(st.characters(codec=None), max_size=60)


def test_a_tab_becomes_a_blank_and_other_controls_become_visible() -> None:
    assert shown("a\tb\x1b") == r"a b\x1b"


def test_ascii_spells_what_it_can_and_escapes_the_rest() -> None:
    assert shown("a … – ‘é", ascii_only=True) == r"a ... - \u2018\xe9"
    assert shown("mysql -phunter2", ascii_only=True) == "mysql -p<secret>"


@given(anything, st.integers(8, 60), st.one_of(st.none(), st.integers(1, 70)), st.booleans())
def test_an_excerpt_fits_and_its_mark_lies_within_the_width(
    line: str, width: int, column: int | None, ascii_only: bool
) -> None:
    piece = excerpt(line, width, column, None, ascii_only=ascii_only)
    assert columns(piece.text) <= width
    assert 0 <= piece.start <= piece.end <= max(width, 1)


@given(anything, st.integers(1, 70), st.integers(1, 70))
def test_the_three_parts_of_a_marked_line_are_the_whole_line(line: str, column: int, end: int) -> None:
    assert "".join(marked(line, column, end)) == "".join(marked(line, None, None))


def test_a_mark_may_cover_several_characters() -> None:
    assert marked("0 3 1,15 * 5 x", 5, 9) == ("0 3 ", "1,15", " * 5 x")
    piece = excerpt("0 3 1,15 * 5 x", 40, 5, 9)
    assert piece.text[piece.start : piece.end] == "1,15"


def test_a_mark_on_a_masked_secret_covers_the_mask() -> None:
    assert marked("mysql -phunter2 x", 9, 16) == ("mysql -p", "‹secret›", " x")


def test_a_long_line_is_cut_on_both_sides_of_its_mark_and_says_so() -> None:
    piece = excerpt("a" * 100 + "%" + "b" * 100, 30, 101, None)
    assert piece.text[piece.start] == "%"
    assert piece.text[0] == piece.text[-1] == "…"


@given(anything, st.integers(0, 30), st.booleans())
def test_a_fitted_text_has_exactly_the_width(text: str, width: int, right: bool) -> None:
    assert columns(fitted(shown(text), width, right=right)) == width


@given(anything, st.integers(4, 30))
def test_folding_loses_no_letter_and_stays_within_the_width(text: str, width: int) -> None:
    lines = folded(shown(text), width)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown(text).split())


@pytest.mark.parametrize(
    ("runs", "said"), [(0, "0"), (1440, "1,440"), (1, "1"), (0.0329, "12/yr"), (4 / 7, "209/yr"), (1.5, "1.5")]
)
def test_rare_entries_are_counted_by_the_year(runs: float, said: str) -> None:
    assert per_day(runs) == said


@pytest.mark.parametrize(("part", "said"), [(0, "0%"), (0.0001, "<1%"), (0.23, "23%"), (0.9999, ">99%"), (1, "100%")])
def test_a_share_is_never_rounded_to_nothing_or_to_all(part: float, said: str) -> None:
    assert share(part) == said


def test_numbers_ranges_and_names() -> None:
    assert [counted(1, "entry"), counted(2, "entry"), counted(1, "error"), counted(1200, "error")] == [
        "1 entry", "2 entries", "1 error", "1,200 errors",
    ]  # fmt: skip
    assert ranges([13, 6, 7, 8, 8, 11]) == "6-8, 11, 13"
    assert short_names(["/etc/crontab", "/etc/cron.d/php", "/h/b/cron.d/php"]) == {
        "/etc/crontab": "crontab", "/etc/cron.d/php": "etc/cron.d/php", "/h/b/cron.d/php": "b/cron.d/php",
    }  # fmt: skip
    assert short_names(["-", "/", "a/x", "x"]) == {"-": "-", "/": "/", "a/x": "a/x", "x": "x"}


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (3747.2, "3,747 starts/day"),
        (28.3, "28 starts/day"),
        (1.4, "1.4 starts/day"),
        (1.0, "1 start/day"),
        (3 / 7, "3 starts/week"),
        (1 / 7, "1 start/week"),
        (12 / 365.2425, "12 starts/year"),
        (1 / 365.2425, "1 start/year"),
        (0.25 / 365.2425, "0.2 starts/year"),
        (0.0, "0 starts/day"),
    ],
)
def test_starts_are_counted_in_a_unit_in_which_they_are_a_number(runs: float, words: str) -> None:
    assert "/".join(starts(runs)) == words
