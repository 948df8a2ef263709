"""Guarded commands, run by real shells with the real flock and timeout of GNU and of BusyBox."""

import os
import subprocess
from pathlib import Path

import pytest
from presence import need_program

from cron2queue.generator.shell import NotWritable
from cron2queue.generator.wrapping import Guard, Simple, guarded, simple
from cron2queue.plan.model import Userland


def guard(tmp_path: Path, *, timeout: int = 20, grace: int = 1, wait: int | None = None, lock: bool = True) -> Guard:
    path = str(tmp_path / "job.lock") if lock else None
    return Guard(name="job", lock=path, timeout=timeout, grace=grace, wait=wait)


@pytest.fixture(params=list(Userland), ids=str)
def userland(request: pytest.FixtureRequest, tmp_path: Path) -> Userland:
    """For BusyBox, a PATH on which timeout, logger and sleep are BusyBox's own (Debian builds it without flock)."""
    if request.param is Userland.BUSYBOX:
        busybox = need_program("busybox")
        (tmp_path / "bin").mkdir()
        for name in ("timeout", "logger", "sleep"):
            (tmp_path / "bin" / name).symlink_to(busybox)
    return Userland(request.param)


def run(command: str, tmp_path: Path, userland: Userland, stdin: str = "") -> subprocess.CompletedProcess[str]:
    path = f"{tmp_path}/bin:/usr/bin:/bin" if userland is Userland.BUSYBOX else "/usr/bin:/bin"
    shell = ["busybox", "sh", "-c"] if userland is Userland.BUSYBOX else ["/bin/sh", "-c"]
    return subprocess.run(
        [*shell, command],
        cwd=tmp_path,
        input=stdin,
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


@pytest.mark.parametrize(
    "command",
    [
        "echo done",
        "echo 'a  b' \"c\" > out; cat out",
        "cd / && pwd",
        "A=1; echo $A | tr 1 2",
        "exit 3",
        "cat",
        'echo it\\\'s "$(echo nested)" `echo ticks`',
        "! true",
        "test -e /nonexistent || echo missing",
        "cd / && echo redirected 1>&2",
        "for i in 1 2; do echo $i; done",
        "X=5 env | grep ^X=",
        "[ 1 -eq 2 ]",
        "(echo sub; exit 4)",
    ],
)
def test_a_guarded_command_does_what_it_did(command: str, tmp_path: Path, userland: Userland) -> None:
    plain = run(command, tmp_path, userland, "given\n")
    wrapped = run(guarded(command, guard(tmp_path), shell="/bin/sh", userland=userland), tmp_path, userland, "given\n")
    assert (wrapped.stdout, wrapped.stderr, wrapped.returncode) == (plain.stdout, plain.stderr, plain.returncode)


@pytest.mark.parametrize(
    "command",
    [
        "ls nothing 2>/dev/null",
        "ls nothing 2>err",
        "ls nothing . 2>>err >out",
        "echo a 2 >out",
        "echo a '2'>out",
        "echo a2>out",
        "echo a 3>third",
        "cat <given 2>err",
        "cat <given 1>out 2>&1",
    ],
)
def test_redirections_lead_where_they_led(command: str, tmp_path: Path, userland: Userland) -> None:
    wrapped = guarded(command, guard(tmp_path), shell="/bin/sh", userland=userland)
    assert _left_by(wrapped, tmp_path / "wrapped", tmp_path, userland) == _left_by(
        command, tmp_path / "plain", tmp_path, userland
    )


def _left_by(command: str, folder: Path, tmp_path: Path, userland: Userland) -> tuple[object, ...]:
    """What a command prints and leaves in a folder with one file in it."""
    folder.mkdir()
    (folder / "given").write_text("given\n")
    ran = run(f"cd {folder}; {command}", tmp_path, userland)
    return ran.stdout, ran.stderr, ran.returncode, {file.name: file.read_text() for file in folder.iterdir()}


def test_a_second_start_is_skipped_with_status_75_while_the_first_lives(tmp_path: Path, userland: Userland) -> None:
    lock = tmp_path / "job.lock"
    holder = subprocess.Popen(
        ["flock", str(lock), "sh", "-c", "echo held; read never"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    try:
        skipped = run(guarded("touch ran", guard(tmp_path), shell="/bin/sh", userland=userland), tmp_path, userland)
    finally:
        holder.communicate(b"\n")
    assert skipped.returncode == 75
    assert not (tmp_path / "ran").exists()


def test_the_time_limit_ends_the_command(tmp_path: Path, userland: Userland) -> None:
    made = guarded("sleep 30", guard(tmp_path, timeout=1), shell="/bin/sh", userland=userland)
    assert run(made, tmp_path, userland).returncode in (124, 143, -15)


def test_a_command_that_ignores_term_is_killed_after_the_grace(tmp_path: Path) -> None:
    made = guarded("trap '' TERM; sleep 30; sleep 30", guard(tmp_path, timeout=1), shell="/bin/sh", userland=Userland.GNU)
    assert run(made, tmp_path, Userland.GNU).returncode in (137, -9)


def test_the_lock_form_is_the_documented_one() -> None:
    command = "cd /var/www/app && /usr/bin/php bin/console app:import >> /var/log/app/import.log 2>&1"
    made = guarded(
        command,
        Guard(name="import", lock="/run/lock/cron2queue/import.lock", timeout=240, grace=10, tell=False),
        shell="/bin/sh",
        userland=Userland.GNU,
    )
    assert made == (
        "cd /var/www/app && /usr/bin/flock -n -E 75 /run/lock/cron2queue/import.lock "
        "/usr/bin/timeout -k 10 240 /usr/bin/php bin/console app:import >> /var/log/app/import.log 2>&1"
    )


@pytest.mark.parametrize(
    "command",
    [
        "a | b",
        "a; b",
        "a && b",
        "a &",
        "A=1 b",
        "$X",
        "`a`",
        "a $(b)",
        "a *",
        "~/a",
        "if a",
        "exec a",
        "a # b",
        "a {b,c}",
        "time a",
        "",
    ],
)
def test_what_needs_a_shell_is_not_taken_for_a_single_program(command: str) -> None:
    assert simple(command) is None


@pytest.mark.parametrize("again", [">11", " >11", " 1", " a", " \t", "'a'", '"a"', "'", '"a', " <a", "1", "cd a && "])
def test_a_command_that_is_nearly_a_single_program_is_told_from_one_in_one_reading(again: str) -> None:
    assert simple(f"a {again * 20_000}!") is None  # read anew at each place, it would not end


def test_a_single_program_keeps_folder_words_and_redirections() -> None:
    assert simple("cd /srv && php a.php --x='1 2' >> log 2>&1") == Simple(
        folder="cd /srv && ", words="php a.php --x='1 2'", redirections=">> log 2>&1"
    )


@pytest.mark.parametrize("shell", ["/usr/bin/fish", "/bin/csh", "/usr/bin/python3", "bash", "", "/bin/sh -x"])
def test_shells_with_other_words_are_refused(shell: str, tmp_path: Path) -> None:
    with pytest.raises(NotWritable, match="not a shell"):
        guarded("true", guard(tmp_path), shell=shell, userland=Userland.GNU)


def test_busybox_cannot_wait_for_a_limited_time(tmp_path: Path) -> None:
    with pytest.raises(NotWritable, match="cannot wait"):
        guarded("true", guard(tmp_path, wait=5), shell="/bin/sh", userland=Userland.BUSYBOX)


def test_without_a_lock_only_the_time_is_limited(tmp_path: Path, userland: Userland) -> None:
    made = guarded("echo free", guard(tmp_path, lock=False), shell="/bin/sh", userland=userland)
    assert "flock" not in made
    assert run(made, tmp_path, userland).stdout == "free\n"


def test_the_lock_file_is_left_in_place(tmp_path: Path, userland: Userland) -> None:
    run(guarded("true", guard(tmp_path), shell="/bin/sh", userland=userland), tmp_path, userland)
    assert os.path.exists(tmp_path / "job.lock")
