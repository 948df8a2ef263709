"""`cron2queue diff`: what apply would change, and nothing else."""

from pathlib import Path

import pytest
from command_line import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "crontab").write_text("0 0 31 2 * root bin/never\n0 3 * * * root bin/nightly https://u:Geheim2019@x.example/\n")
    assert run("convert", str(tmp_path / "crontab"), "--into", str(tmp_path / "c2q")).status == 0
    return tmp_path / "c2q"


def test_a_difference_is_shown_and_ends_with_1(folder: Path) -> None:
    ran = run("diff", str(folder))
    assert ran.status == 1
    assert "-0 0 31 2 * root bin/never" in ran.out
    assert "+#0 0 31 2 * root bin/never" in ran.out
    assert "Geheim2019" not in ran.out


def test_without_a_difference_it_ends_with_0(folder: Path) -> None:
    assert run("apply", str(folder), "--yes").status == 0
    ran = run("diff", str(folder))
    assert (ran.status, ran.out) == (0, "")


def test_a_crontab_that_changed_is_refused(folder: Path) -> None:
    (folder.parent / "crontab").write_text("0 0 31 2 * root bin/other\n")
    ran = run("diff", str(folder))
    assert ran.status == 4
    assert "run convert again" in ran.err


def test_a_folder_without_a_plan_is_a_usage_error(tmp_path: Path) -> None:
    assert run("diff", str(tmp_path)).status == 2
    assert run("diff", str(tmp_path / "nowhere")).status == 2
