"""The folder cannot be left by any name or link, and its files have the modes they are given."""

import os
import stat
from pathlib import Path

import pytest

from cron2queue.errors import UsageError
from cron2queue.plan.folder import Folder, UnsafePath


@pytest.mark.parametrize("name", ["../x", "/etc/x", "..", "", "a/../../x", "a\0b", "a//b", "./a", "a/."])
def test_names_that_lead_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    with Folder.open(tmp_path / "in", create=True) as folder, pytest.raises(UnsafePath):
        folder.write(name, b"x", 0o644)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in"]


def test_a_link_in_place_of_a_subfolder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    with Folder.open(tmp_path / "in", create=True) as folder:
        (tmp_path / "in" / "handlers").symlink_to(tmp_path / "outside")
        with pytest.raises(UnsafePath):
            folder.write("handlers/x.py", b"x", 0o644)
        with pytest.raises(UnsafePath):
            folder.read("handlers/x.py")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_in_place_of_a_file_is_replaced_and_its_target_untouched(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    with Folder.open(tmp_path / "in", create=True) as folder:
        (tmp_path / "in" / "a").symlink_to(target)
        folder.write("a", b"new", 0o644)
    assert target.read_text() == "precious"
    assert not (tmp_path / "in" / "a").is_symlink()


def test_a_hard_link_is_not_written_through(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    with Folder.open(tmp_path / "in", create=True) as folder:
        os.link(target, tmp_path / "in" / "a")
        folder.write("a", b"new", 0o644)
    assert target.read_text() == "precious"


def test_the_folder_itself_may_not_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(UnsafePath):
        Folder.open(tmp_path / "link")


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_modes_do_not_depend_on_the_umask(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        with Folder.open(tmp_path / "in", create=True) as folder:
            folder.write("sub/private", b"x", 0o600)
            folder.write("program", b"x", 0o755)
            folder.make("locks", 0o700)
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE((tmp_path / "in" / name).stat().st_mode) for name in ("sub/private", "program", "sub", "locks")}
    assert modes == {"sub/private": 0o600, "program": 0o755, "sub": 0o755, "locks": 0o700}
    assert stat.S_IMODE((tmp_path / "in").stat().st_mode) == 0o755


def test_a_folder_that_all_may_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(UnsafePath, match="written to by others"):
        Folder.open(tmp_path / "open")


def test_a_fifo_is_neither_read_nor_waited_for(tmp_path: Path) -> None:
    with Folder.open(tmp_path / "in", create=True) as folder:
        os.mkfifo(tmp_path / "in" / "pipe")
        with pytest.raises(UnsafePath):
            folder.read("pipe")


def test_a_failed_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    with Folder.open(tmp_path / "in", create=True) as folder:
        (tmp_path / "in" / "a").mkdir()
        with pytest.raises(OSError, match="directory"):
            folder.write("a", b"x", 0o644)
    assert [each.name for each in (tmp_path / "in").iterdir()] == ["a"]


def test_what_is_not_there_reads_as_none(tmp_path: Path) -> None:
    with Folder.open(tmp_path / "in", create=True) as folder:
        assert folder.read("missing") is None
        assert folder.read("missing/deeper") is None


def test_a_folder_that_is_not_there_is_refused_with_what_to_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("gone", "file"):
        with pytest.raises(UnsafePath, match="not a folder that can be used") as caught:
            Folder.open(tmp_path / name)
        assert "convert --into" in (caught.value.remedy or "")


def test_trouble_with_a_file_inside_is_told_with_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    with pytest.raises(IsADirectoryError) as caught, Folder.open(tmp_path) as folder:
        folder.write("plan", b"x", 0o644)
    assert caught.value.filename.startswith(f"{tmp_path}/")


def test_what_cannot_be_made_is_told_with_what_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file/in", tmp_path / "file/in/below"):
        with pytest.raises((UsageError, NotADirectoryError)) as caught:
            Folder.open(path, create=True)
        assert str(tmp_path / "file") in str(caught.value)
    for name in ("/proc/nothing", "/proc/nothing/below"):
        with pytest.raises(UsageError, match=r"/proc/nothing.* cannot be made"):
            Folder.open(Path(name), create=True)


def test_a_folder_of_everybody_is_not_to_be_closed_to_everybody(tmp_path: Path) -> None:
    for mode, remedy in ((0o1777, "name a folder of your own below it"), (0o777, f"run: chmod go-w {tmp_path / 'in'}")):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in").chmod(mode)
        with pytest.raises(UnsafePath) as caught:
            Folder.open(tmp_path / "in")
        assert caught.value.remedy == remedy
