"""However a command ends, its exit status is the documented one and nobody sees a stray traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from cron2queue.cli.trouble import exit_status_of
from cron2queue.cli.watching import Show, repeated
from cron2queue.errors import DatabaseUnavailable


def test_a_known_error_is_one_paragraph_with_its_own_status(capsys: pytest.CaptureFixture[str]) -> None:
    status = exit_status_of(DatabaseUnavailable("db1 does not answer", remedy="start it"))
    said = capsys.readouterr()
    assert (status, said.out) == (69, "")
    assert said.err == "cron2queue: db1 does not answer\n  remedy: start it\n"


def test_a_bug_is_one_line_that_names_the_way_to_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status_of(ZeroDivisionError("division by zero")) == 70
    said = capsys.readouterr().err
    assert "ZeroDivisionError" in said
    assert "--traceback" in said
    assert "Traceback" not in said


def test_a_bug_shows_its_traceback_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status_of(ZeroDivisionError("x"), show_traceback=True) == 70
    assert "ZeroDivisionError: x" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("trouble", "status"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143), (SystemExit(None), 0), (SystemExit(2), 2)]
)
def test_the_ways_out_of_the_interpreter_keep_their_status(trouble: BaseException, status: int) -> None:
    assert exit_status_of(trouble) == status


def test_hostile_text_in_an_error_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    exit_status_of(DatabaseUnavailable("mysql://root:hunter2@db1\x1b[2J"))
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "hunter2" not in said


def test_a_full_disk_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        Path("/dev/full").write_text("x", encoding="utf-8")
    assert exit_status_of(caught.value) == 2
    assert "No space left on device" in capsys.readouterr().err


def test_a_reader_that_went_away_ends_a_command_quietly() -> None:
    command = f"{sys.executable} -m cron2queue --help | true"
    ran = subprocess.run(["/bin/bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_command_is_called_without_the_others_being_loaded() -> None:
    code = (
        "import sys\n"
        "from cron2queue.cli.app import COMMANDS, main\n"
        "sys.argv = ['cron2queue', 'explain', 'C2Q301']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name, module in COMMANDS if f'cron2queue.cli.commands.{module}' in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "['explain']"


@pytest.mark.parametrize("words", [["--help"], ["--traceback", "audit", "--help"]])
def test_all_commands_are_known_where_the_first_word_is_none(words: list[str]) -> None:
    ran = subprocess.run([sys.executable, "-m", "cron2queue", *words], capture_output=True, text=True)
    assert (ran.returncode, "Usage:" in ran.stdout) == (0, True)


def test_a_word_that_is_no_command_is_told_so() -> None:
    ran = subprocess.run([sys.executable, "-m", "cron2queue", "expalin"], capture_output=True, text=True)
    assert (ran.returncode, "No such command" in ran.stderr) == (2, True)


def test_a_watch_that_tries_again_keeps_secrets_to_itself(capsys: pytest.CaptureFixture[str]) -> None:
    told = iter([DatabaseUnavailable("mysql://shop:Geheim2019@db/shop does not answer", remedy="wait"), KeyboardInterrupt()])

    def render() -> str:
        raise next(told)

    with pytest.raises(KeyboardInterrupt):
        repeated(Show(render=render, output=None), 0.0, live=False)
    said = capsys.readouterr().err
    assert "does not answer; trying again" in said and "Geheim2019" not in said
