"""The percent sign, as each daemon's do_command() takes it apart."""

import pytest

from cron2queue.crontab.percent import split_percent


@pytest.mark.parametrize(
    ("written", "command", "stdin"),
    [
        (b"date", "date", None),
        (b"date +\\%F", "date +%F", None),
        (b"cat%a", "cat", "a\n"),
        (b"cat%a%b%", "cat", "a\nb\n"),
        (b"cat%", "cat", ""),
        (b"cat%%", "cat", "\n"),
        (b"cat%a\\%b\\nc\\\\d", "cat", "a%b\\nc\\\\d\n"),
        (b'date "+%F"', 'date "+', 'F"\n'),
        (b"%a", "", "a\n"),
        (b"cat%a\\", "cat", "a\\\n"),
        (b"cat%\\", "cat", "\\"),
        (b"cat%a%\\\\", "cat", "a\n\\\\"),
        (b"cat%a\\%", "cat", "a%\n"),
        (b"a\\", "a\\", None),
    ],
)
@pytest.mark.parametrize("collapse", [True, False])
def test_the_first_unescaped_percent_begins_the_input(written: bytes, command: str, stdin: str | None, collapse: bool) -> None:
    assert split_percent(written, collapse=collapse) == (command, stdin)


@pytest.mark.parametrize(
    ("written", "collapsed", "kept"),
    [
        (b"a\\\\b", ("a\\b", None), ("a\\\\b", None)),
        (b"a\\\\%b", ("a\\", "b\n"), ("a\\\\", "b\n")),
        (b"a\\\\\\%b", ("a\\%b", None), ("a\\\\%b", None)),
        (b"a\\n\\\\n", ("a\\n\\n", None), ("a\\n\\\\n", None)),
    ],
)
def test_two_backslashes_become_one_on_debian_and_freebsd_only(
    written: bytes, collapsed: tuple[str, str | None], kept: tuple[str, str | None]
) -> None:
    assert split_percent(written, collapse=True) == collapsed
    assert split_percent(written, collapse=False) == kept


def test_a_nul_in_the_input_part_is_no_percent() -> None:
    assert split_percent(b"cat%a\0b", collapse=True) == ("cat", "a\0b\n")
