"""A line of the screen keeps its styles apart from its text, and rich draws both."""

from cron2queue.report.screen.line import Line


def drawn(line: Line) -> list[tuple[str, str]]:
    """The pieces in which rich prints the line, each with its style."""
    text = line.colored()
    return [(text.plain[span.start : span.end], str(span.style)) for span in text.spans]


def test_styles_stand_at_their_columns() -> None:
    line = Line("E C2Q301", "bold").append("  here", "dim").append(" and there")
    line.stylize("red", 0, 1)
    assert line.plain == "E C2Q301  here and there"
    assert drawn(line) == [("E C2Q301  here and there", "bold"), ("  here", "dim"), ("E", "red")]


def test_blanks_at_the_end_are_not_drawn() -> None:
    line = Line("left").append("   ", "dim")
    assert (line.plain, line.colored().plain) == ("left   ", "left")
