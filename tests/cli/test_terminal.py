"""Columns, colours and characters: decided once, for every command."""

import io
import sys

import pytest

from cron2queue.cli.terminal import colored, columns, takes_ascii_only
from cron2queue.errors import UsageError


class Terminal(io.TextIOWrapper):
    """Standard output that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def stream(*, terminal: bool, encoding: str = "utf-8") -> io.TextIOWrapper:
    return (Terminal if terminal else io.TextIOWrapper)(io.BytesIO(), encoding=encoding)


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("wish", "terminal", "environment", "expected"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", None, {}, False),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", False, {"FORCE_COLOR": "1"}, True),
        ("auto", None, {"FORCE_COLOR": "1"}, False),
        ("auto", False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("always", None, {"NO_COLOR": "1"}, True),
        ("never", True, {"FORCE_COLOR": "1"}, False),
    ],
)
def test_who_decides_about_colours(
    wish: str, terminal: bool | None, environment: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert colored(wish, None if terminal is None else stream(terminal=terminal)) is expected


def test_a_wish_for_another_colour_is_refused() -> None:
    with pytest.raises(UsageError, match="--color 'blue' is not known"):
        colored("blue", sys.stdout)


@pytest.mark.parametrize(("value", "expected"), [("72", 72), ("0", 100), ("-3", 100), ("٧", 100), ("wide", 100), ("", 100)])
def test_columns_come_from_the_variable_or_nobody(value: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", value)
    assert columns(None) == columns(stream(terminal=False)) == expected


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", False), ("UTF8", False), ("latin-1", True), ("ascii", True)])
def test_frames_are_drawn_where_the_encoding_has_them(encoding: str, expected: bool) -> None:
    assert takes_ascii_only(stream(terminal=True, encoding=encoding)) is expected
    assert not takes_ascii_only(None)
