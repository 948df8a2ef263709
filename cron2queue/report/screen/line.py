"""One line of a screen: text, and which parts of it have a style. Only colour needs rich, which is dear to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text


class Line:
    """Text of which parts are styled; the style of the whole comes first. Styles are rich's: `bold red`, `dim`."""

    __slots__ = ("_spans", "plain")

    def __init__(self, plain: str = "", style: str = "") -> None:
        self.plain = plain
        self._spans: list[tuple[int, int | None, str]] = []
        if style:
            self.stylize(style)

    def append(self, text: str, style: str = "") -> Line:
        """More text at its end."""
        start = len(self.plain)
        self.plain += text
        if style:
            self.stylize(style, start, len(self.plain))
        return self

    def stylize(self, style: str, start: int = 0, end: int | None = None) -> None:
        """A style for the columns from `start` to before `end`, or to wherever the line ends."""
        self._spans.append((start, end, style))

    def colored(self) -> Text:
        """The line as rich draws it."""
        from rich.text import Text

        text = Text(self.plain)
        for start, end, style in self._spans:
            text.stylize(style, start, end)
        text.rstrip()
        return text
