"""Every command teaches itself: at eighty columns, with an example, and with nothing cut off."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from cron2queue.cli.app import COMMANDS, build_app

APP = build_app()
GROUP: Any = typer.main.get_command(APP)


def _all() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for name, _ in COMMANDS:
        found.append((name,))
        found += [(name, member) for member in getattr(GROUP.commands[name], "commands", {})]
    return found


def _help(words: tuple[str, ...]) -> str:
    """Of `worker` it is the lean command line that answers --help; -h is the page of this one."""
    ran = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(APP, [*words, "-h"], prog_name="cron2queue")
    assert ran.exit_code == 0, ran.output
    return ran.output


@pytest.mark.parametrize("words", _all(), ids=" ".join)
def test_the_help_fits_into_eighty_columns_and_cuts_nothing_off(words: tuple[str, ...]) -> None:
    shown = _help(words)
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert not re.search(r"\w\.\.\.$", re.sub(r"\[ARGS\]\.\.\.|[A-Z]+\.\.\.|\[[A-Z]+\]\.\.\.", "", shown), re.M)
    assert "[[" not in shown


@pytest.mark.parametrize("words", _all(), ids=" ".join)
def test_the_help_has_an_example_of_the_command_itself(words: tuple[str, ...]) -> None:
    _, heading, examples = re.split(r"^ *(Examples?:)$", _help(words), maxsplit=1, flags=re.M)
    assert heading
    assert any(f"cron2queue {' '.join(words)}".rstrip() in line for line in examples.splitlines()), examples


@pytest.mark.parametrize("words", [(), ("migrate",), ("jobs",), ("dead",), ("queues",), ("workers",)], ids=" ".join)
def test_a_group_tells_of_each_of_its_commands_in_a_whole_sentence(words: tuple[str, ...]) -> None:
    shown = " ".join(_help(words).split())
    group: Any = GROUP.commands[words[0]] if words else GROUP
    for name, command in group.commands.items():
        sentence = " ".join(command.help.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
        assert sentence
        assert f"{name} {sentence}" in shown


def test_the_lean_worker_teaches_itself_as_well() -> None:
    words = [sys.executable, "-m", "cron2queue.runtime", "work", "--help"]
    shown = subprocess.run(words, env={**os.environ, "COLUMNS": "80"}, capture_output=True, text=True, check=True).stdout
    assert "  cron2queue worker --drain" in shown
    assert [line for line in shown.splitlines() if len(line) > 80] == []
