"""`cron2queue apply`: from convert to a changed crontab, through the command line."""

import contextlib
import getpass
import os
import pty
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run

from cron2queue.cutover import preflight

TEXT = "0 0 31 2 * root bin/never\n0 0 30 2 * root bin/neither\n"


@pytest.fixture
def crontab(tmp_path: Path) -> Path:
    path = tmp_path / "crontab"
    path.write_text(TEXT)
    assert run("convert", str(path), "--into", str(tmp_path / "c2q")).status == 0
    return path


def test_without_a_terminal_it_wants_yes(crontab: Path) -> None:
    words = [sys.executable, "-m", "cron2queue", "apply", str(crontab.parent / "c2q")]
    ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert ran.returncode == 2
    assert "--yes" in ran.stderr
    assert crontab.read_text() == TEXT


@pytest.mark.parametrize(("answer", "changed"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_on_a_terminal_it_asks(answer: bytes, changed: bool, crontab: Path) -> None:
    leader, follower = pty.openpty()
    words = [sys.executable, "-m", "cron2queue", "apply", str(crontab.parent / "c2q")]
    asked = subprocess.Popen(words, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(leader, answer)
    _, err = asked.communicate(timeout=60)
    os.close(leader)
    os.close(follower)
    assert asked.returncode == 0
    assert b"[y/N]" in err
    assert (crontab.read_text() != TEXT) is changed


def test_one_entry_then_the_rest(crontab: Path) -> None:
    folder = str(crontab.parent / "c2q")
    assert run("apply", folder, "--only", "neither", "--yes").status == 0
    assert crontab.read_text().startswith("0 0 31 2 * root bin/never\n# cron2queue switched off")
    assert run("convert", str(crontab), "--into", folder, "--check").status == 0
    assert run("apply", folder, "--yes").status == 0
    assert crontab.read_text().count("# cron2queue switched off") == 2
    assert "nothing to change" in run("apply", folder, "--yes").out


def test_lock_files_are_asked_for_before_anything_changes(crontab: Path, tmp_path: Path) -> None:
    crontab.write_text("# cron2queue: name=work lost-on-failure=yes user-waits=yes\n*/5 * * * * root bin/work\n")
    words = ("convert", str(crontab), "--into", str(tmp_path / "c2q"), "--set", f"lock-folder={tmp_path}/locks")
    assert run(*words).status == 0
    before = crontab.read_text()
    ran = run("apply", str(tmp_path / "c2q"), "--yes")
    assert ran.status == 4
    assert "tmpfiles" in ran.err
    assert crontab.read_text() == before


def test_the_job_table_is_asked_for_before_anything_changes(tmp_path: Path) -> None:
    crontab, plan = tmp_path / "crontab", str(tmp_path / "c2q/cron2queue.toml")
    before = "# cron2queue: name=work lost-on-failure=yes user-waits=yes\n*/5 * * * * bin/work\n"
    crontab.write_text(before)
    assert run("convert", str(crontab), "--kind", "user", "--into", str(tmp_path / "c2q")).status == 0
    ran = run("apply", str(tmp_path / "c2q"), "--yes")
    assert (ran.status, crontab.read_text()) == (4, before)
    assert "tables c2q_* are missing" in ran.err and "migrate up" in ran.err
    assert run("migrate", "up", "--plan", plan).status == 0
    assert run("apply", str(tmp_path / "c2q"), "--yes").status == 0
    assert "enqueue work" in crontab.read_text()


def test_a_crontab_that_cron_ignored_is_repaired_first_converted_then_and_never_rolled_back_to_be_ignored(
    tmp_path: Path,
) -> None:
    text = b"MAILTO=\r\n\r\n# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * root /bin/true\r\n"
    crontab, folder = tmp_path / "crontab", str(tmp_path / "c2q")
    crontab.write_bytes(text)
    words = ("convert", str(crontab), "--kind", "system", "--into", folder, "--set", f"lock-folder={folder}/locks")
    assert run(*words, "--set", f"python={sys.executable}").status == 0
    first = run("apply", folder, "--yes")
    assert (first.status, "all of its entries run" in first.err) == (0, True)
    repaired = crontab.read_bytes()
    assert b'MAILTO=""\n' in repaired and b"\n*/5 * * * * root /bin/true\n" in repaired
    assert run("apply", folder, "--yes").out.startswith("nothing to change")
    assert run(*words).status == 0
    assert run("migrate", "up", "--plan", f"{folder}/cron2queue.toml").status == 0
    second = run("apply", folder, "--yes")
    assert second.status == 0, second.err
    assert b"enqueue work" in crontab.read_bytes()
    assert run(*words, "--check").status == 0
    back = run("rollback", folder, "--yes")
    assert (back.status, "what was put right stays" in back.err) == (0, True)
    assert crontab.read_bytes() == repaired
    assert run("rollback", folder, "--yes").status == 4, "cron would ignore the crontab as it was"
    assert run("apply", folder, "--yes").status == 0
    assert b"enqueue work" in crontab.read_bytes()


def test_a_repaired_line_is_rolled_back_under_later_edits_too(tmp_path: Path) -> None:
    text = b"0 3 * * * root /bin/echo $(date +%F)\n0 4 * * * root /bin/true\n"
    crontab, folder = tmp_path / "crontab", str(tmp_path / "c2q")
    crontab.write_bytes(text)
    assert run("convert", str(crontab), "--kind", "system", "--into", folder).status == 0
    assert run("apply", folder, "--yes").status == 0
    assert b"\n0 3 * * * root /bin/echo $(date +\\%F)\n" in crontab.read_bytes()
    crontab.write_bytes(crontab.read_bytes() + b"# by hand\n")
    assert run("rollback", folder, "--yes").status == 0
    assert crontab.read_bytes() == text + b"# by hand\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root applies for another user")
def test_a_database_that_the_user_of_the_job_cannot_write_is_told_before_the_switch() -> None:
    text = "# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * games /bin/true\n"
    with tempfile.TemporaryDirectory(prefix="c2q-test-") as name:
        top = Path(name)
        top.chmod(0o755)
        (top / "crontab").write_text(text)
        folder, plan = str(top / "c2q"), str(top / "c2q/cron2queue.toml")
        words = ("--kind", "system", "--set", f"lock-folder={folder}/locks", "--set", "python=/bin/true")
        assert run("convert", str(top / "crontab"), "--into", folder, *words).status == 0
        assert run("migrate", "up", "--plan", plan).status == 0
        refused = run("apply", folder, "--yes")
        assert refused.status == 4
        assert f"games cannot write {folder}/cron2queue.db" in refused.err
        assert f"games cannot write {folder}," not in refused.err
        assert "install -d -o games" in refused.err
        assert (top / "crontab").read_text() == text
        own = top / "own"
        own.mkdir()
        assert run("convert", str(top / "crontab"), "--into", folder, "--database", f"sqlite:///{own}/jobs.db").status == 0
        assert run("migrate", "up", "--plan", plan).status == 0
        for path in (own, *own.iterdir()):
            shutil.chown(path, "games")
        applied = run("apply", folder, "--yes")
        assert applied.status == 0, applied.err


def test_an_interpreter_that_has_no_cron2queue_is_told_before_the_switch(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    crontab, folder = tmp_path / "crontab", str(tmp_path / "c2q")
    text = f"# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * {getpass.getuser()} /bin/true\n"
    crontab.write_text(text)
    words = ("convert", str(crontab), "--kind", "system", "--into", folder, "--set", f"lock-folder={folder}/locks")
    assert run(*words, "--set", f"python={bare}").status == 0
    assert run("migrate", "up", "--plan", f"{folder}/cron2queue.toml").status == 0
    refused = run("apply", folder, "--yes")
    assert (refused.status, f"{bare} does not find cron2queue as" in refused.err) == (4, True)
    assert crontab.read_text() == text
    assert run(*words, "--set", f"python={sys.executable}").status == 0
    assert run("apply", folder, "--yes").status == 0


@contextlib.contextmanager
def as_user(name: str) -> Iterator[None]:
    """The rights of another user, in this process: its interpreter may lie where nobody else can run it."""
    os.setegid(pwd.getpwnam(name).pw_gid)
    os.seteuid(pwd.getpwnam(name).pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("command", ["diff", "apply", "rollback"])
@pytest.mark.parametrize("closed", [".", "PLAN.json", "cutover", None])
def test_a_right_that_is_missing_is_a_refusal(command: str, closed: str | None) -> None:
    words = [command, "c2q", *([] if command == "diff" else ["--yes"])]
    with tempfile.TemporaryDirectory(prefix="c2q-test-") as name:
        top = Path(name)
        top.chmod(0o755)
        (top / "crontab").write_text(TEXT)
        assert run("convert", "crontab", "--kind", "system", "--into", "c2q", cwd=top).status == 0
        run(*words, cwd=top)  # everything is loaded now
        before = (top / "crontab").read_bytes()
        for path in (top / "c2q", *(top / "c2q").rglob("*")):
            path.chmod(0o755)
        if closed:
            (top / "c2q" / closed).chmod(0o700)
        with as_user("games"):
            ran = run(*words, cwd=top)
        assert (ran.status, (top / "crontab").read_bytes()) == (4, before), ran.err
        assert ran.err.startswith(f"cron2queue: {top}/c2q")
        assert ran.err.endswith("\n  remedy: run it as the user who has converted, or as root\n")


def test_only_what_is_changed_is_named(crontab: Path) -> None:
    folder = str(crontab.parent / "c2q")
    assert "is changed (never);" in run("apply", folder, "--only", "never", "--yes").out
    assert "is changed (neither);" in run("apply", folder, "--yes").out
    assert "is changed (never);" in run("rollback", folder, "--only", "never", "--yes").out


def test_no_line_goes_before_its_timer_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# cron2queue: name=work user-waits=yes lost-on-failure=yes\n*/5 * * * * root true\n"
    crontab, folder = tmp_path / "crontab", str(tmp_path / "c2q")
    crontab.write_text(text)
    assert run("convert", str(crontab), "--kind", "system", "--into", folder, "--engine", "systemd").status == 0
    monkeypatch.setattr(preflight, "UNIT_FOLDERS", (tmp_path / "none", tmp_path / "installed"))
    refused = run("apply", folder, "--yes")
    assert (refused.status, crontab.read_text()) == (4, text)
    assert "cron2queue-c2q-work.timer is not installed\n  remedy: copy units/systemd/ to /etc/systemd/system" in refused.err
    shutil.copytree(tmp_path / "c2q/units/systemd", tmp_path / "installed")
    applied = run("apply", folder, "--yes")
    assert (applied.status, applied.err.count("systemctl enable --now cron2queue-c2q-work.timer\n")) == (0, 1)
    back = run("rollback", folder, "--yes")
    assert (back.status, back.err.count("systemctl disable --now cron2queue-c2q-work.timer\n")) == (0, 1)
    assert crontab.read_text() == text
