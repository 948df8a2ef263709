"""`cron2queue worker` is the lean worker under the tool's name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from databases import Database
from workbench import Workbench

TOOL = [sys.executable, "-m", "cron2queue", "worker"]


def test_the_tool_works_through_a_queue(sqlite_database: Database, tmp_path: Path) -> None:
    bench = Workbench(folder=tmp_path, url=sqlite_database.url)
    bench.python("work")
    bench.handlers('@handler("work")\ndef work(job): pass\n')
    for number in range(5):
        bench.enqueue("work", key=str(number))
    ran = subprocess.run([*TOOL, "--drain", "--database", bench.url], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, bench.states()) == (0, {"succeeded": 5}), ran.stderr
    bench.close()


def test_the_database_may_come_from_the_environment(sqlite_database: Database, tmp_path: Path) -> None:
    bench = Workbench(folder=tmp_path, url=sqlite_database.url)
    bench.python("work")
    bench.handlers('@handler("work")\ndef work(job): pass\n')
    bench.enqueue("work")
    environment = {**os.environ, "CRON2QUEUE_DATABASE_URL": bench.url}
    ran = subprocess.run([*TOOL, "--drain"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert (ran.returncode, bench.states()) == (0, {"succeeded": 1}), ran.stderr
    bench.close()


def test_help_begins_with_examples_and_names_every_option() -> None:
    ran = subprocess.run([*TOOL, "--help"], capture_output=True, text=True)
    assert ran.returncode == 0
    assert "Examples:" in ran.stdout
    for option in ("--queue", "--children", "--drain", "--grace", "--lease", "--handlers", "--threads"):
        assert option in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--queue", "a:b"], "NAME:N"),
        (["--grace", "0"], "--grace must be above 0"),
        (["--children", "-1"], "--children must not be negative"),
        (["--plan", "none.toml"], "cannot be read"),
    ],
)
def test_a_wrong_call_is_told_in_one_paragraph(tmp_path: Path, arguments: list[str], message: str) -> None:
    ran = subprocess.run([*TOOL, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode in (2, 3)
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
