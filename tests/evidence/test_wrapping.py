"""A wrapped crontab runs what it ran before: proved by running it, and undone to the same text."""

import subprocess
import sys
from pathlib import Path

import pytest

from cron2queue.crontab.lines import Kind, entry_ids
from cron2queue.evidence.observations import read
from cron2queue.evidence.wrapping import unwrapped, wrap

from .looking import crontab

TEXT = """\
# a comment with 'quotes' and %
MAILTO=root

*/5 * * * * www-data php a.php --x='y z'
30 2 * * *\troot mysqldump shop > /backup/shop-$(date +\\%F).sql\x20\x20
0 3 * * * root cat > /tmp/x%line one%line 'two'
@reboot root echo "it's" \\' done
"""


def test_every_other_byte_stays() -> None:
    file = crontab(TEXT)
    wrapped = wrap(file, entry_ids([file]), wrapper="W")
    before, after = TEXT.splitlines(), wrapped.data.decode().splitlines()
    assert wrapped.left == ()
    assert [line for line in after if "W --entry" not in line] == before[:3]
    for old, new in zip(before[3:], after[3:], strict=True):
        head = new.partition("W --entry")[0]
        assert old.startswith(head)


def test_the_wrapped_crontab_is_read_as_the_same_commands() -> None:
    file = crontab(TEXT)
    wrapped = crontab(wrap(file, entry_ids([file])).data.decode())
    for old, new in zip(file.entries, wrapped.entries, strict=True):
        assert (unwrapped(new.command) or "").rstrip() == old.command.rstrip()
        assert (new.stdin, new.user, new.schedule_text) == (old.stdin, old.user, old.schedule_text)


def test_a_wrapped_crontab_is_left_as_it_is() -> None:
    file = crontab(TEXT)
    once = wrap(file, entry_ids([file])).data
    again = crontab(once.decode())
    assert wrap(again, entry_ids([again])).data == once


def test_a_command_that_would_be_too_long_is_left_and_named() -> None:
    file = crontab("0 0 * * * root " + "x" * 950 + "\n")
    wrapped = wrap(file, entry_ids([file]))
    assert wrapped.data == file.to_bytes()
    assert "/etc/crontab:1" in wrapped.left[0]


@pytest.mark.parametrize(
    "command", ["echo 'a b' \"c'd\"", "echo \\\\ \\' '\\'", "printf '%s' \"$HOME\" | cat", "cat", "echo $((1+1)); exit 3"]
)
def test_a_wrapped_command_does_what_the_command_does(tmp_path: Path, command: str) -> None:
    written = command.replace("%", "\\%")
    file = crontab(f"0 0 * * * {written}%given input\n", kind=Kind.USER, path="-")
    wrapper = f"{sys.executable} -m cron2queue.evidence.recorder --observations={tmp_path / 'o.db'}"
    (new,) = crontab(wrap(file, entry_ids([file]), wrapper=wrapper).data.decode(), kind=Kind.USER, path="-").entries
    (old,) = file.entries

    def ran(text: str, given: str | None) -> tuple[int, str]:
        done = subprocess.run(["/bin/sh", "-c", text], input=given, capture_output=True, text=True)
        return done.returncode, done.stdout

    assert ran(new.command, new.stdin) == ran(old.command, old.stdin)
    (seen,) = read(tmp_path / "o.db")
    assert (seen.command, seen.entry) == (old.command, old.fingerprint)


@pytest.mark.parametrize("dialect", ["debian", "cronie", "busybox", "freebsd", "openbsd"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "  \n"])
def test_every_dialect_reads_the_same_commands_and_input_as_before(dialect: str, ending: str) -> None:
    text = f"0 1 * * * echo 'a' \\\\ b%in 'x'  {ending}5 * * * * date +\\%F{ending}"
    file = crontab(text, kind=Kind.USER, path="-", dialect=dialect)
    wrapped = wrap(file, entry_ids([file]))
    again = crontab(wrapped.data.decode(), kind=Kind.USER, path="-", dialect=dialect)
    assert wrapped.left == ()
    assert [(unwrapped(each.command) or each.command).rstrip("\r ") for each in again.entries] == [
        each.command.rstrip("\r ") for each in file.entries
    ]
    assert [each.stdin for each in again.entries] == [each.stdin for each in file.entries]


def test_what_is_no_wrapped_command_is_not_unwrapped() -> None:
    assert unwrapped("php a.php") is None
    assert unwrapped("cron2queue observe -- php a.php") is None
