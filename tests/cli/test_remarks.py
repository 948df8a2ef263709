"""A source that is no crontab, or holds nothing, is told in one paragraph with place and remedy."""

import subprocess
import sys
from pathlib import Path

import pytest


def audit(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "cron2queue", "audit", *words], capture_output=True, text=True)


def test_a_binary_file_is_an_input_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "photo").write_bytes(b"GIF89a\n\xff\x00\x00;")
    ran = audit(str(tmp_path / "photo"))
    assert ran.returncode == 3
    assert "photo: line 2, column 2: a NUL byte" in ran.stderr
    assert "remedy: name the crontab itself" in ran.stderr


def test_a_nul_byte_beside_entries_is_a_fault_of_the_crontab_and_not_of_the_input(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_bytes(b"* * * * * a\nx\0y\n")
    ran = audit(str(tmp_path / "crontab"))
    assert ran.returncode == 1
    assert "C2Q101" in ran.stdout


@pytest.mark.parametrize("text", ["", "\n\n", "# only words\n", "PATH=/bin\n"])
def test_a_crontab_without_an_entry_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "crontab").write_text(text, encoding="utf-8")
    ran = audit(str(tmp_path / "crontab"))
    assert ran.returncode == 0
    assert "holds no entry" in ran.stderr
    assert "remedy: " in ran.stderr


def test_a_folder_without_a_crontab_is_told(tmp_path: Path) -> None:
    ran = audit(str(tmp_path))
    assert ran.returncode == 0
    assert "no crontab was found there" in ran.stderr
