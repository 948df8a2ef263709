"""What starts commands gives them the environment that it was given, nothing more."""

import subprocess
import sys
from pathlib import Path

import pytest

STARTERS = (
    ("cron2queue.evidence.recorder", "--observations={}/seen.db"),
    ("cron2queue", "observe", "--observations={}/seen.db"),
    ("cron2queue", "lock", "one", "--folder={}"),
    ("cron2queue.runtime", "lock", "one", "--folder={}"),
)


@pytest.mark.parametrize(
    "given", [{}, {"LC_CTYPE": "C"}, {"LC_CTYPE": "POSIX", "X": ""}, {"LC_ALL": "C", "A": "b=c"}, {"LANG": "C"}]
)
@pytest.mark.parametrize("starter", STARTERS, ids=" ".join)
def test_a_command_gets_the_environment_that_its_starter_got(
    tmp_path: Path, starter: tuple[str, ...], given: dict[str, str]
) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **given}
    words = [sys.executable, "-m", *(word.format(tmp_path) for word in starter), "--", "env", "-0"]
    ran = subprocess.run(words, env=environment, capture_output=True, check=True, timeout=60, cwd=tmp_path)
    assert dict(each.split("=", 1) for each in ran.stdout.decode().split("\0")[:-1]) == environment
