"""The demonstration goes the whole road, says each step, and leaves everything in the folder that was named."""

import os
import re
import subprocess
import sys
from pathlib import Path


def demo(folder: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cron2queue", "demo", str(folder)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})


def test_the_demonstration_goes_from_a_crontab_to_worked_off_jobs(tmp_path: Path) -> None:
    ran = demo(tmp_path / "look", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.findall(r"^== (\d) ", ran.stdout, re.M) == ["1", "2", "3", "4", "5", "6", "7"]
    assert "all well" in ran.stdout
    assert (tmp_path / "look/srv/var/feed.csv").read_text(encoding="utf-8").startswith("sku;price")
    assert [path.name for path in tmp_path.iterdir()] == ["look"]


def test_a_folder_that_is_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    ran = demo(tmp_path, tmp_path)
    assert ran.returncode == 2
    assert "is not an empty folder" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_step_that_does_not_hold_ends_the_demonstration_loudly(tmp_path: Path) -> None:
    broken = "import cron2queue.cli.demonstration.story as s; s.MISSING_FILE = s.Path('srv/etc/other.key'); "
    code = (
        broken
        + f"from cron2queue.cli.app import main; import sys; sys.argv = ['cron2queue', 'demo', {str(tmp_path / 'x')!r}]; main()"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 70
    assert "the requeued job did not succeed" in ran.stderr
    assert "Traceback" not in ran.stderr
