"""The bar is seen by people at terminals who wait, and by nobody else."""

import io

from cron2queue.cli.progress import Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_short_work_shows_nothing() -> None:
    terminal = Terminal()
    bar = Bar("reading", stream=terminal, clock=iter([0.0, 0.5, 0.9]).__next__)
    bar(1, 10)
    bar(10, 10)
    bar.close()
    assert terminal.getvalue() == ""


def test_long_work_shows_its_share_and_clears_it() -> None:
    terminal = Terminal()
    bar = Bar("reading", stream=terminal, clock=iter([0.0, 1.5, 1.5]).__next__)
    bar(5_000_000, 10_000_000)
    assert "[###############               ]  50% of 10 MB" in terminal.getvalue()
    bar.close()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_what_is_no_terminal_is_left_alone() -> None:
    stream = io.StringIO()
    bar = Bar("reading", stream=stream, clock=iter([0.0, 9.0, 9.0]).__next__)
    bar(5, 10)
    bar.close()
    assert stream.getvalue() == ""


def test_an_unknown_total_shows_what_was_read() -> None:
    terminal = Terminal()
    Bar("reading", stream=terminal, clock=iter([0.0, 2.0, 2.0]).__next__)(7_000_000, 0)
    assert "reading 7 MB" in terminal.getvalue()


def test_other_things_than_bytes_are_counted_as_they_are() -> None:
    terminal = Terminal()
    with Bar("judging", unit="entries", stream=terminal, clock=iter([0.0, 1.5, 1.5]).__next__) as bar:
        bar(1200, 2400)
    assert "judging [###############               ]  50% of 2,400 entries" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
