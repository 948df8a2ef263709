"""The two pages on how to migrate and how to go back hold: each console block is run and prints what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs/how-to"


@pytest.mark.parametrize("name", ["migrate-one-entry", "roll-back"])
def test_the_commands_of_the_page_do_what_it_shows(name: str, tmp_path: Path) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            status = int(lines.pop(0)[1:-1]) if lines and re.fullmatch(r"\[\d+\]", lines[0]) else 0
            ran = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert ran.returncode == status, f"{command}\n{ran.stdout}{ran.stderr}"
            for line in lines:
                assert line in ran.stdout, f"{command} did not print {line!r}:\n{ran.stdout}{ran.stderr}"
