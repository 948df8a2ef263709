"""A table that fits: columns leave by rank when the terminal is narrow, and the one that may shrink is cut last."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.text import Text

from cron2queue.report.columns import columns as columns_of
from cron2queue.report.columns import fitted as padded

GAP = 2
LEAST = 8  # columns that a shrinking column keeps when nothing else can leave


@dataclass(frozen=True, slots=True)
class Cell:
    """Text that is already safe to show, and how it looks."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """`rank` 0 stays; the highest rank leaves first, before one that shrinks is narrower than `least`."""

    title: str
    right: bool = False
    rank: int = 0
    shrinks: bool = False
    least: int = 2 * LEAST


def fitted(text: str, width: int) -> str:
    """The text in at most `width` columns, with `~` where something was cut."""
    return text if columns_of(text) <= width else padded(text, width, mark="~").rstrip(" ")


class Grid:
    """Rows of cells under columns; `lines(width)` draws what fits."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = tuple(columns)
        self._rows: list[tuple[Cell, ...]] = []

    def add(self, cells: Iterable[Cell | str]) -> None:
        """One row; there must be a cell for each column."""
        row = tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells)
        if len(row) != len(self._columns):
            raise ValueError(f"{len(row)} cells for {len(self._columns)} columns")
        self._rows.append(row)

    def lines(self, width: int, *, indent: int = 2, heading: bool = True) -> list[Text]:
        """The table in at most `width` columns."""
        kept, widths = self._layout(width - indent)
        titles = [tuple(Cell(column.title, "dim") for column in self._columns)] if heading else []
        return [self._line(row, kept, widths, indent) for row in [*titles, *self._rows]]

    def _natural(self, index: int) -> int:
        return max(columns_of(row[index].text) for row in [(*[Cell(c.title) for c in self._columns],), *self._rows])

    def _layout(self, room: int) -> tuple[list[int], dict[int, int]]:
        kept = list(range(len(self._columns)))
        widths = {index: self._natural(index) for index in kept}
        while self._too_wide(kept, widths, room) and any(self._columns[index].rank for index in kept):
            kept.remove(max(kept, key=lambda index: (self._columns[index].rank, index)))
        excess = sum(widths[index] for index in kept) + GAP * (len(kept) - 1) - room
        for index in sorted(kept, key=lambda index: (not self._columns[index].shrinks, -widths[index])):
            taken = min(max(0, excess), max(0, widths[index] - min(LEAST, widths[index])))
            widths[index] -= taken
            excess -= taken
        return kept, widths

    def _too_wide(self, kept: list[int], widths: dict[int, int], room: int) -> bool:
        least = sum(min(widths[i], self._columns[i].least) if self._columns[i].shrinks else widths[i] for i in kept)
        return least + GAP * (len(kept) - 1) > room

    def _line(self, row: tuple[Cell, ...], kept: list[int], widths: dict[int, int], indent: int) -> Text:
        line = Text(" " * indent)
        for index in kept:
            text = fitted(row[index].text, widths[index])
            padding = " " * (widths[index] - columns_of(text))
            line.append(padding if self._columns[index].right else "")
            line.append(text, row[index].style)
            last = index == kept[-1]
            line.append("" if last or self._columns[index].right else padding).append("" if last else " " * GAP)
        line.rstrip()
        return line
