"""A table fits into the terminal, whatever stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cron2queue.cli.screens.grid import Cell, Column, Grid, fitted
from cron2queue.report.columns import columns as columns_of

COLUMNS = (Column("name", shrinks=True), Column("n", right=True), Column("note", rank=1, shrinks=True), Column("id", rank=2))


def table(*rows: tuple[str, str, str, str]) -> Grid:
    grid = Grid(COLUMNS)
    for row in rows:
        grid.add(row)
    return grid


def test_a_wide_terminal_shows_everything_aligned() -> None:
    lines = [line.plain for line in table(("mail", "7", "fine", "8b2c"), ("reports", "1,204", "", "9b2c")).lines(80)]
    assert lines == [
        "  name         n  note  id",
        "  mail         7  fine  8b2c",
        "  reports  1,204        9b2c",
    ]


def test_columns_leave_by_rank_and_the_essential_ones_stay() -> None:
    row = ("mail", "7", "a note that is long enough to be in the way", "8b2c")
    assert "id" not in table(row).lines(30)[0].plain
    narrow = table(row).lines(20)[0].plain
    assert narrow.split() == ["name", "n"]


def test_a_row_must_have_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="1 cells for 4 columns"):
        Grid(COLUMNS).add(["x"])


words = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=60)


@given(st.lists(st.tuples(words, words, words, words), max_size=6), st.integers(min_value=40, max_value=140))
def test_no_line_is_wider_than_the_terminal_unless_figures_alone_are(rows: list[tuple[str, str, str, str]], width: int) -> None:
    shorter = [(a, b[:10], c, d) for a, b, c, d in rows]
    assert all(columns_of(line.plain) <= width for line in table(*shorter).lines(width))


@given(words, st.integers(min_value=1, max_value=30))
def test_a_cut_text_fits_and_shows_the_cut(text: str, width: int) -> None:
    cut = fitted(text, width)
    assert columns_of(cut) <= width
    assert cut == text or cut.endswith("~")


def test_wide_characters_take_two_columns() -> None:
    assert columns_of("注文") == 4
    assert fitted("注文注文", 5) == "注文~"


def test_a_style_is_kept() -> None:
    grid = Grid([Column("a")])
    grid.add([Cell("x", "red")])
    assert any(span.style == "red" for span in grid.lines(40)[1].spans)
