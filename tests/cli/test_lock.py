"""`cron2queue lock`: one run at a time, and honest about everything else."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from databases import Database

LEAN = [sys.executable, "-m", "cron2queue.runtime", "lock"]
TOOL = [sys.executable, "-m", "cron2queue", "lock"]


def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "CRON2QUEUE_LOCK_FOLDER": str(tmp_path / "locks")}


def run(tmp_path: Path, *arguments: str, tool: list[str] = LEAN) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*tool, *arguments], capture_output=True, text=True, env=environment(tmp_path), cwd=tmp_path)


def holder(tmp_path: Path, *options: str, script: str = "echo begun; read line; echo ended") -> "subprocess.Popen[str]":
    started = subprocess.Popen(
        [*LEAN, "import", *options, "--", "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "begun\n"
    return started


def end(started: "subprocess.Popen[str]") -> int:
    started.communicate("\n")
    return started.returncode


@pytest.mark.parametrize("tool", [LEAN, TOOL], ids=["lean", "tool"])
def test_the_command_runs_and_its_output_and_status_come_through(tmp_path: Path, tool: list[str]) -> None:
    ran = run(tmp_path, "import", "--", "sh", "-c", "echo out; echo err >&2; exit 7", tool=tool)
    assert (ran.returncode, ran.stdout, ran.stderr) == (7, "out\n", "err\n")


@pytest.mark.parametrize("tool", [LEAN, TOOL], ids=["lean", "tool"])
def test_held_by_another_is_75_with_a_message_and_nothing_is_run(tmp_path: Path, tool: list[str]) -> None:
    first = holder(tmp_path)
    ran = run(tmp_path, "import", "--", "touch", str(tmp_path / "ran"), tool=tool)
    assert (ran.returncode, ran.stdout) == (75, "")
    assert "the lock import is held by another run" in ran.stderr
    assert not (tmp_path / "ran").exists()
    assert end(first) == 0


def test_a_75_of_the_command_itself_has_no_message_of_ours(tmp_path: Path) -> None:
    ran = run(tmp_path, "import", "--", "sh", "-c", "exit 75")
    assert (ran.returncode, ran.stderr) == (75, "")


def test_policy_wait_runs_as_soon_as_the_lock_is_free(tmp_path: Path) -> None:
    first = holder(tmp_path)
    second = subprocess.Popen(
        [*LEAN, "import", "--policy", "wait", "--", "echo", "second"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(tmp_path),
    )
    assert second.poll() is None
    assert end(first) == 0
    assert second.communicate()[0] == "second\n"
    assert second.returncode == 0


@pytest.mark.parametrize("scope", ["host", "database"])
def test_a_row_of_skips_is_told_and_counted_in_each_scope_until_a_run_ends_it(
    database: Database, tmp_path: Path, scope: str
) -> None:
    from cron2queue.runtime.locks.locking import Skips, skips_in

    options = ("--scope", scope, "--database", database.url)
    first = holder(tmp_path, *options)
    said = [run(tmp_path, "import", *options, "--", "true") for _ in range(3)]
    assert [each.returncode for each in said] == [75] * 3
    assert ["times in a row" in each.stderr for each in said] == [False, False, True]
    assert "nothing was run, 3 times in a row" in said[-1].stderr
    counted = skips_in(tmp_path / "locks")["import"]
    assert counted == Skips(total=3, in_a_row=3, last=counted.last)
    assert end(first) == 0
    assert run(tmp_path, "import", *options, "--", "true").returncode == 0
    assert skips_in(tmp_path / "locks")["import"].in_a_row == 0


def test_the_log_event_of_a_skip_warns_from_the_third_in_a_row_on(caplog: pytest.LogCaptureFixture) -> None:
    from cron2queue.runtime.locks.locking import LockHeld, Skips
    from cron2queue.runtime.locks.run import tell_skip

    with caplog.at_level("INFO", logger="cron2queue.lock"):
        for number in (2, 3):
            tell_skip(LockHeld("held"), Skips(total=7, in_a_row=number))
    told = [(record.levelname, vars(record)["event"], vars(record)["in_a_row"]) for record in caplog.records]
    assert told == [("INFO", "lock_skip", 2), ("WARNING", "lock_skip", 3)]


def test_skips_are_a_metric_for_the_textfile_collector(tmp_path: Path) -> None:
    first = holder(tmp_path)
    text = tmp_path / "locks.prom"
    assert run(tmp_path, "import", "--textfile", str(text), "--", "true").returncode == 75
    assert run(tmp_path, "other", "--textfile", str(text), "--", "true", tool=TOOL).returncode == 0
    assert end(first) == 0
    lines = text.read_text().splitlines()
    assert "# TYPE cron2queue_lock_skips_total counter" in lines
    assert 'cron2queue_lock_skips_total{lock="import"} 1' in lines
    assert 'cron2queue_lock_skips_in_a_row{lock="import"} 1' in lines
    assert text.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_reach_the_command(tmp_path: Path, number: int) -> None:
    name = signal.Signals(number).name.removeprefix("SIG")
    started = holder(tmp_path, script=f"trap 'echo heard; exit 9' {name}; echo begun; while :; do sleep 0.05; done")
    started.send_signal(number)
    assert started.communicate()[0] == "heard\n"
    assert started.returncode == 9


def test_a_command_that_a_signal_ended_is_told_as_a_shell_tells_it(tmp_path: Path) -> None:
    assert run(tmp_path, "import", "--", "sh", "-c", "kill -SEGV $$").returncode == 139


def test_a_killed_holder_leaves_the_lock_with_its_command(tmp_path: Path) -> None:
    first = holder(tmp_path)
    first.kill()
    first.wait()
    assert run(tmp_path, "import", "--", "true").returncode == 75
    assert first.stdin is not None
    first.stdin.close()
    assert run(tmp_path, "import", "--policy", "wait", "--", "true").returncode == 0
    assert first.stdout is not None
    first.stdout.close()


def test_a_command_with_closed_streams_does_not_write_into_the_lock(tmp_path: Path) -> None:
    command = [*LEAN, "import", "--", "sh", "-c", "echo out; echo err >&2; exit 5"]
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command]
    ran = subprocess.run(closed, env=environment(tmp_path), cwd=tmp_path, timeout=60)
    assert ran.returncode == 5
    assert len((tmp_path / "locks" / "import.lock").read_text().split()) == 2


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["import", "--", "/nonexistent/program"], 127, "not found; nothing was run"),
        (["import", "--", "/etc/passwd"], 126, "nothing was run"),
        (["../import", "--", "true"], 2, "cannot be the name of a lock"),
        (["import", "--policy", "hope", "--", "true"], 2, "none of skip, wait"),
        (["import", "--scope", "galaxy", "--", "true"], 2, "none of host, database"),
        (["import"], 2, "no command"),
    ],
)
def test_what_cannot_be_run_says_why(tmp_path: Path, arguments: list[str], status: int, message: str) -> None:
    ran = run(tmp_path, *arguments)
    assert ran.returncode == status
    assert message in ran.stderr


def test_failure_to_lock_never_runs_the_command(tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks").chmod(0o777)
    ran = run(tmp_path, "import", "--", "touch", str(tmp_path / "ran"))
    assert ran.returncode == 69
    assert "remedy: chmod go-w" in ran.stderr
    assert not (tmp_path / "ran").exists()


def test_a_database_that_does_not_answer_never_runs_the_command(tmp_path: Path) -> None:
    url = "mysql+pymysql://root@127.0.0.1:1/none"
    ran = run(tmp_path, "import", "--scope", "database", "--database", url, "--", "touch", str(tmp_path / "ran"))
    assert ran.returncode == 69
    assert not (tmp_path / "ran").exists()


def test_in_a_database_one_run_at_a_time(database: Database, tmp_path: Path) -> None:
    options = ("--scope", "database", "--database", database.url)
    first = holder(tmp_path, *options)
    second = run(tmp_path, "import", *options, "--", "touch", str(tmp_path / "ran"))
    assert (second.returncode, (tmp_path / "ran").exists()) == (75, False)
    assert "held by another run" in second.stderr
    assert end(first) == 0
    assert run(tmp_path, "import", *options, "--", "sh", "-c", "exit 3").returncode == 3


def test_the_command_of_a_killed_holder_of_a_servers_lock_ends_with_it(tmp_path: Path) -> None:
    from databases import need, own_database

    need("mariadb")
    options = ("--scope", "database", "--database", own_database("mariadb"))
    first = holder(tmp_path, *options, script="echo begun; exec sleep 600")
    first.kill()
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.read() == ""  # end of file: the command is gone as well
    first.stdout.close()
    first.stdin.close()
    first.wait()
    assert run(tmp_path, "import", *options, "--policy", "wait", "--", "true").returncode == 0


@pytest.mark.parametrize("tool", [LEAN, TOOL], ids=["lean", "tool"])
def test_a_plan_that_was_named_and_cannot_be_read_is_never_passed_over(tmp_path: Path, tool: list[str]) -> None:
    (tmp_path / "folder.toml").mkdir()
    for name in ("nowhere.toml", "folder.toml"):
        ran = run(tmp_path, "import", "--scope", "database", "--plan", name, "--", "touch", "ran", tool=tool)
        assert (ran.returncode, f"{name}: the plan cannot be read" in ran.stderr) == (3, True)
    assert not (tmp_path / "ran").exists()
