"""The pages hold: each console block of the documentation is run, ends as it says, and prints what it shows."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if "```console" in page.read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Step:
    command: str
    status: int
    says: tuple[str, ...]


def steps(page: Path) -> Iterator[Step]:
    """`$ command`, then `[N]` for a status other than 0, then lines that the output must hold."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            status = int(lines[0][1:-1]) if lines and re.fullmatch(r"\[\d+\]", lines[0]) else 0
            yield Step(command=command, status=status, says=tuple(lines[1:] if status else lines))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_the_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    found = list(steps(page))
    assert len(found) >= 3
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    place = tmp_path
    for step in found:
        environment = {**os.environ, "PATH": tools, "EXAMPLES": str(ROOT / "examples"), "COLUMNS": "100", "HOME": str(tmp_path)}
        script = f"{step.command}\nstatus=$?\npwd > {tmp_path}/.place\nexit $status"
        ran = subprocess.run(["/bin/sh", "-c", script], cwd=place, env=environment, capture_output=True, text=True)
        assert ran.returncode == step.status, f"{step.command}\n{ran.stdout}{ran.stderr}"
        printed = "\n".join(" ".join(line.split()) for line in ran.stdout.splitlines())  # as wide as its cells: blanks differ
        for line in step.says:
            assert " ".join(line.split()) in printed, f"{step.command} did not print {line!r}:\n{ran.stdout}"
        place = Path((tmp_path / ".place").read_text(encoding="utf-8").strip())
