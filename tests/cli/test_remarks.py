"""A source that is no crontab, or holds nothing, is told in one paragraph with place and remedy."""

import subprocess
import sys
from pathlib import Path

import pytest

from cron2queue.cli.reading.opening import Unreadable
from cron2queue.cli.remarks import remark
from cron2queue.cli.sources import Sources


def cron2queue(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "cron2queue", *words], capture_output=True, text=True)


def audit(*words: str) -> subprocess.CompletedProcess[str]:
    return cron2queue("audit", *words)


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


def test_a_spool_that_is_closed_to_the_caller_is_told_without_being_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """On Debian it is closed to all but root, and a report of half the crontabs looked like that of all."""
    spool = Unreadable("/var/spool/cron/crontabs", "Permission denied", "run as root")
    remark(Sources(files=(), closed=(spool,)), verbose=False)
    assert capsys.readouterr().err == (
        "cron2queue: /var/spool/cron/crontabs: Permission denied: of the users' crontabs only your own is read\n"
        "  remedy: run as root to read them all\n"
    )


@pytest.mark.parametrize("text", ["", "\n\n", "# only words\n", "PATH=/bin\n"])
def test_a_crontab_without_an_entry_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "crontab").write_text(text, encoding="utf-8")
    ran = audit(str(tmp_path / "crontab"))
    assert ran.returncode == 0
    assert "holds no entry" in ran.stderr
    assert "remedy: " in ran.stderr


@pytest.mark.parametrize("words", [["audit"], ["show"], ["convert", "--into", "c2q"]])
@pytest.mark.parametrize("how", ["folder", "cron.d", "cron.daily", "--root"])
def test_a_folder_without_a_crontab_is_a_source_that_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], how: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / how.strip("-")
    folder.mkdir()
    (folder / ".placeholder").write_text("# nothing\n", encoding="utf-8")
    ran = cron2queue(*words, *(["--root", "root"] if how == "--root" else [folder.name]))
    assert ran.returncode == 3
    assert f"{folder.name}: no crontab was found there\n  remedy: name a crontab file" in ran.stderr
    assert not (tmp_path / "c2q").exists()


def test_the_rest_is_still_reported_beside_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "crontab").write_text("7 * * * * true\n", encoding="utf-8")
    ran = audit(str(tmp_path / "empty"), str(tmp_path / "crontab"))
    assert ran.returncode == 3
    assert "1 source not read" in ran.stdout
    assert "7 * * * *" in ran.stdout or "true" in ran.stdout


def test_of_the_files_of_a_folder_those_with_comments_alone_are_told_only_when_asked(tmp_path: Path) -> None:
    folder = tmp_path / "cron.d"
    folder.mkdir()
    (folder / "one").write_text("7 * * * * root true\n", encoding="utf-8")
    (folder / "two").write_text("# 8 * * * * root true\n", encoding="utf-8")
    assert audit(str(folder)).stderr == ""
    assert "two: holds no entry" in audit(str(folder), "--verbose").stderr
    assert "two: holds no entry" in audit(str(folder / "one"), str(folder / "two")).stderr


@pytest.mark.parametrize("words", [["show"], ["observe", "--wrap"], ["convert", "--into", "c2q"]])
def test_no_command_takes_a_binary_file_for_a_crontab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photo").write_bytes(b"GIF89a\n\xff\x00\x00;")
    ran = cron2queue(*words, "photo")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "a NUL byte" in ran.stderr and "remedy: " in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["photo"]


@pytest.mark.parametrize("option", ["--logs", "--journal", "--observations"])
@pytest.mark.parametrize("command", ["audit", "convert"])
def test_evidence_that_was_named_and_is_not_there_is_told_and_the_rest_still_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crontab").write_text("7 * * * * true\n", encoding="utf-8")
    ran = cron2queue(command, "crontab", option, "gone.log", *(["--into", "c2q"] if command == "convert" else []))
    assert ran.returncode == 3
    assert "gone.log: No such file or directory\n  remedy: " in ran.stderr
    assert "7 * * * *" in ran.stdout or "true" in ran.stdout
