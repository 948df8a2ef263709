"""Whatever path is given where: what this host does not allow is told as that, and never as a bug of cron2queue."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from command_line import run

from cron2queue.cli.app import COMMANDS, build_app

GROUP: Any = typer.main.get_command(build_app())
# What a command needs beside the path that is tried.
NEEDS = {
    "rollback": ["c2q"], "diff": ["c2q"], "apply": ["c2q"], "observe": ["--", "true"], "lock": ["mine", "--", "true"],
    "enqueue": ["job"], "jobs show": ["8b2c6d0b"], "jobs cancel": ["8b2c6d0b"], "jobs retry": ["8b2c6d0b"],
    "jobs release": ["8b2c6d0b"], "dead requeue": ["--all"], "queues show": ["mail"], "queues pause": ["mail"],
    "queues resume": ["mail"], "queues limit": ["mail", "--depth", "9"], "migrate down": ["--to", "0"],
}  # fmt: skip


TEXTS = {"--logs", "--journal", "sources", "--textfile"}  # read as text, and paths all the same


def _commands() -> Iterator[tuple[str, Any]]:
    for name, _ in COMMANDS:
        members = getattr(GROUP.commands[name], "commands", None)
        yield from [(f"{name} {each}", one) for each, one in members.items()] if members else [(name, GROUP.commands[name])]


def _takers() -> list[tuple[str, str]]:
    """Each command with each of its options and arguments that is a path; "" stands for the argument."""
    return [
        (words, parameter.opts[0] if parameter.opts[0].startswith("-") else "")
        for words, command in _commands()
        for parameter in command.params
        if "Path" in str(parameter.type_descriptor.annotation) or parameter.opts[0] in TEXTS
    ]


def _ran(words: list[str], folder: Path) -> tuple[int, str]:
    if words[0] not in ("observe", "lock"):
        ran = run(*words, cwd=folder)
        return ran.status, ran.err
    tool = [sys.executable, "-m", "cron2queue", *words]  # they end as their command does, and this process with them
    done = subprocess.run(tool, cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """A name that is too long, one below a file, a loop, a folder where a file belongs, and one where nobody can make any."""
    (tmp_path / "file").write_text("* * * * * true\n")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    return ["x" * 300, "file/below", "loop", "loop/below", "folder", "/proc/nothing", "/proc/nothing/below"]


@pytest.mark.parametrize(("words", "option"), _takers(), ids=str)
def test_a_path_that_cannot_be_used_is_no_bug(words: str, option: str, places: list[str], tmp_path: Path) -> None:
    for place in places:
        given = [*words.split(), *([option, place] if option else [place]), *(NEEDS.get(words, []) if option else [])]
        status, said = _ran(given, tmp_path)
        assert status != 70, f"{given}\n{said}"
        assert "Traceback" not in said


def test_a_command_runs_though_its_record_has_no_place(places: list[str], tmp_path: Path) -> None:
    for place in places:
        status, said = _ran(["observe", "--observations", place, "--", "sh", "-c", "echo done > ran; exit 3"], tmp_path)
        assert (status, (tmp_path / "ran").read_text()) == (3, "done\n"), said
        assert said.startswith("cron2queue"), said
        (tmp_path / "ran").unlink()


@pytest.mark.parametrize("words", ["audit", "status", "convert crontab", "worker --drain", "demo x"])
def test_a_folder_that_is_gone_is_told(words: str, tmp_path: Path) -> None:
    script = f"mkdir gone && cd gone && rmdir ../gone && exec {sys.executable} -m cron2queue {words}"
    done = subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1, 2), done.stderr
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr
