"""An observed command cannot tell that it is observed, and neither can who started it."""

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cron2queue.evidence.observations import Observation, read

SH = ("--", "/bin/sh", "-c")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "state" / "observations.db"


def words(database: Path, arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "cron2queue.evidence.recorder", f"--observations={database}", *arguments]


def observed(database: Path, *arguments: str, **more: Any) -> "subprocess.CompletedProcess[bytes]":
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    return subprocess.run(words(database, arguments), timeout=60, **more)


def only(database: Path) -> Observation:
    (found,) = read(database)
    return found


def test_input_output_and_status_pass_through_and_are_recorded(database: Path) -> None:
    ran = observed(database, *SH, "cat; printf 'one\\ntwo' >&2; exit 7", input=b"a\x00\xff\nb\n")
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, b"a\x00\xff\nb\n", b"one\ntwo")
    seen = only(database)
    assert (seen.exit_status, seen.signal) == (7, None)
    assert (seen.stdout_bytes, seen.stdout_lines, seen.stderr_bytes, seen.stderr_lines) == (6, 2, 7, 1)
    assert seen.ended is not None
    assert 0 <= seen.ended - seen.started < 60
    assert seen.user_seconds is not None
    assert seen.max_rss_bytes


def test_a_death_by_signal_becomes_the_same_death(database: Path) -> None:
    ran = observed(database, *SH, "kill -9 $$")
    assert ran.returncode == -signal.SIGKILL
    assert only(database).signal == signal.SIGKILL
    assert only(database).exit_status is None


def test_a_signal_to_the_recorder_reaches_the_command(database: Path) -> None:
    script = "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.01; done"
    with subprocess.Popen(words(database, (*SH, script)), stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.stdout.read() == b"got\n"
    assert running.returncode == 3
    assert only(database).exit_status == 3


def test_both_outputs_in_one_pipe_keep_their_order(database: Path) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"
    ran = observed(database, *SH, script, stderr=subprocess.STDOUT)
    assert ran.stdout.split() == [f"{stream}{i}".encode() for i in range(1, 10) for stream in "oe"]
    assert only(database).stdout_lines == 18


def test_ten_megabytes_pass_unchanged(database: Path) -> None:
    script = "head -c 10000000 /dev/zero | tr '\\0' x"
    ran = observed(database, *SH, script)
    assert ran.stdout == b"x" * 10_000_000
    assert only(database).stdout_bytes == 10_000_000


def test_a_file_stays_a_file_and_its_growth_is_counted(database: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"before\n")
    with log.open("ab") as target:
        observed(database, *SH, "echo after; stat -L -c %F /proc/self/fd/1", stdout=target)
    assert log.read_bytes() == b"before\nafter\nregular file\n"
    assert only(database).stdout_bytes == 19


def test_a_command_whose_reader_is_gone_dies_as_it_would_alone(database: Path) -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(words(database, ("--", "yes")), stdout=writing) as running:
        os.close(writing)
        os.read(reading, 10)
        os.close(reading)
        assert running.wait(timeout=60) == -signal.SIGPIPE
    assert only(database).signal == signal.SIGPIPE


def test_it_ends_with_the_command_while_a_background_process_holds_the_pipe(database: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with subprocess.Popen(words(database, (*SH, f"(cat {gate}; echo late) & echo early")), stdout=subprocess.PIPE) as running:
        assert running.wait(timeout=60) == 0
        with gate.open("w"):
            pass
        assert running.stdout is not None
        assert running.stdout.read() == b"early\nlate\n"
    assert only(database).stdout_bytes == 6


def test_a_missing_command_is_127_and_one_that_may_not_run_126(database: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("x")
    ran = observed(database, "--", "/no/such/command")
    assert ran.returncode == 127
    assert b"No such file" in ran.stderr
    assert observed(database, "--", str(plain)).returncode == 126


def test_a_script_without_a_first_line_is_run_by_the_shell(database: Path, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('echo "$1"\n')
    script.chmod(0o755)
    assert observed(database, "--", str(script), "hello").stdout == b"hello\n"


def test_a_recording_that_fails_is_told_and_changes_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    ran = observed(blocked / "observations.db", *SH, "echo out; exit 4")
    assert (ran.returncode, ran.stdout) == (4, b"out\n")
    assert b"not recorded" in ran.stderr


def test_a_locked_database_does_not_fail_the_command(database: Path) -> None:
    observed(database, "--", "true")
    holder = sqlite3.connect(database, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    ran = observed(database, *SH, "exit 5")
    holder.close()
    assert ran.returncode == 5
    assert b"not recorded" in ran.stderr


def test_many_at_once_are_all_recorded(database: Path) -> None:
    running = [subprocess.Popen(words(database, (*SH, f"echo {number}")), stdout=subprocess.DEVNULL) for number in range(20)]
    assert [each.wait(timeout=120) for each in running] == [0] * 20
    assert len(list(read(database))) == 20


def test_the_shell_text_is_run_by_the_shell_of_the_environment(database: Path) -> None:
    ran = observed(database, "--shell", 'echo "it\'s $0"', env={**os.environ, "SHELL": "/bin/bash"})
    assert ran.stdout == b"it's /bin/bash\n"
    assert only(database).command == 'echo "it\'s $0"'


def test_environment_folder_group_and_descriptors_stay(database: Path, tmp_path: Path) -> None:
    kept = os.open(tmp_path, os.O_RDONLY)
    script = f"pwd; echo $MARK; ls -d /proc/self/fd/{kept}; ps -o pgid= -p $$ | tr -d ' '; cat /proc/self/status | grep Sig[BI]"
    alone = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        env={"MARK": "m", "PATH": "/usr/bin:/bin"},
        pass_fds=[kept],
        stdout=subprocess.PIPE,
    )
    both = observed(
        database,
        *SH,
        script,
        cwd=tmp_path,
        env={"MARK": "m", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2])},
        pass_fds=[kept],
    )
    assert both.stdout == alone.stdout


def test_secrets_are_not_stored(database: Path) -> None:
    observed(database, "--shell", "true https://user:hunter2secret@example.org/")
    assert b"hunter2secret" not in database.read_bytes()
    assert (database.stat().st_mode & 0o777, database.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_output_that_says_nothing_to_do_is_noticed_and_not_kept(database: Path) -> None:
    observed(database, "--nothing-to-do", "keine Arbeit", "--shell", "echo keine Arbeit heute")
    observed(database, "--shell", "echo sent 5 mails")
    assert [each.nothing_to_do for each in read(database)] == [1, None]
    assert b"sent 5 mails" not in database.read_bytes().replace(b"echo sent 5 mails", b"")


@pytest.mark.parametrize("arguments", [(), ("--",), ("--no-such", "x"), ("--shell",), ("--shell", "a", "b")])
def test_words_that_are_no_order_are_refused(database: Path, arguments: tuple[str, ...]) -> None:
    ran = observed(database, *arguments)
    assert ran.returncode == 2
    assert ran.stderr.startswith(b"usage:")


@pytest.mark.parametrize("way", [("cron2queue.evidence.recorder",), ("cron2queue", "observe")], ids=["lean", "whole"])
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"])
def test_streams_given_closed_stay_closed_and_do_no_harm(
    database: Path, tmp_path: Path, way: tuple[str, ...], closed: str
) -> None:
    seen = tmp_path / "seen"
    script = f'for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && printf "$n " >>{seen}; done; exit 5'
    recorder = f"{shlex.join([sys.executable, '-m', *way])} --observations={database} --"
    for wrapper in ("", recorder):
        shown = ["sh", "-c", f"exec {closed}; exec {wrapper} sh -c '{script}'"]
        assert subprocess.run(shown, stdin=subprocess.DEVNULL, timeout=60).returncode == 5
    still = "".join(f"{number} " for number in "012" if number not in closed)
    assert (seen.read_text() if seen.exists() else "") == still * 2
    assert only(database).exit_status == 5
