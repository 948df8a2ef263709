"""`cron2queue observe` on the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from presence import need_root

from cron2queue.cli.observing import unreachable
from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind, entry_ids
from cron2queue.crontab.parser import parse
from cron2queue.evidence.observations import read
from cron2queue.evidence.wrapping import unwrapped, wrap


def observe(*words: str, given: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([sys.executable, "-m", "cron2queue", "observe", *words], input=given, capture_output=True, timeout=60)


def test_the_command_runs_as_it_is_and_is_recorded(tmp_path: Path) -> None:
    ran = observe("--observations", str(tmp_path / "o.db"), "--", "sh", "-c", "cat; exit 3", given=b"in\xff")
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, b"in\xff", b"")
    (seen,) = read(tmp_path / "o.db")
    assert (seen.exit_status, seen.stdout_bytes) == (3, 3)


def test_options_of_the_command_are_its_own(tmp_path: Path) -> None:
    ran = observe("--observations", str(tmp_path / "o.db"), "echo", "--wrap", "-q", "--help")
    assert ran.stdout == b"--wrap -q --help\n"


def test_nothing_to_run_is_told(tmp_path: Path) -> None:
    ran = observe("--observations", str(tmp_path / "o.db"))
    assert ran.returncode == 2
    assert b"nothing to run" in ran.stderr


def test_a_pattern_that_is_none_is_told(tmp_path: Path) -> None:
    ran = observe("--observations", str(tmp_path / "o.db"), "--nothing-to-do", "(", "true")
    assert ran.returncode == 2
    assert b"no regular expression" in ran.stderr


def test_a_crontab_is_printed_wrapped() -> None:
    ran = observe("--wrap", "--dialect", "debian", "--kind", "user", "-", given=b"# keep\n0 1 * * * job 'x'\n")
    comment, line = ran.stdout.splitlines()
    assert ran.returncode == 0, ran.stderr
    assert comment == b"# keep"
    assert line.startswith(b"0 1 * * * " + sys.executable.encode())
    assert line.endswith(b"--shell 'job '\\''x'\\'''")


def test_words_for_nothing_to_do_are_carried_into_the_wrapped_crontab(tmp_path: Path) -> None:
    options = ("--observations", str(tmp_path / "o.db"), "--nothing-to-do", "keine (Arbeit|Post)", "--nothing-to-do", "leer$")
    ran = observe("--wrap", *options, "--dialect", "debian", "--kind", "user", "-", given=b"0 1 * * * echo keine Post\n")
    command = ran.stdout.decode().removeprefix("0 1 * * * ").rstrip("\n")
    assert unwrapped(command) == "echo keine Post"
    assert subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=True, timeout=60).stdout == b"keine Post\n"
    (seen,) = read(tmp_path / "o.db")
    assert seen.nothing_to_do


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--nothing-to-do", "0%"), b"holds what crons or shells take apart"),
        (("--nothing-to-do", "it's"), b"holds what crons or shells take apart"),
        (("--observations", "/tmp/100%.db"), b"holds what crons or shells take apart"),
        (("--nothing-to-do", "("), b"no regular expression"),
        (("--entry", "x"), b"belong to one run"),
        (("--shell", "x"), b"belong to one run"),
    ],
)
def test_what_cannot_stand_in_a_wrapped_crontab_is_told(words: tuple[str, ...], said: bytes) -> None:
    ran = observe("--wrap", *words, "--kind", "user", "-", given=b"0 1 * * * true\n")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert said in ran.stderr


def test_what_cron_cannot_read_is_told_and_left_as_it_is() -> None:
    ran = observe("--wrap", "--kind", "user", "--dialect", "debian", "-", given=b"A=1\n* 25 * * * x\n")
    assert (ran.returncode, ran.stdout) == (0, b"A=1\n* 25 * * * x\n")
    assert b"left as it is: line 2, column 3: bad hour\n  remedy: " in ran.stderr
    ran = observe("--wrap", "-", given=b"# none\n")
    assert (ran.returncode, ran.stdout) == (0, b"# none\n")
    assert b"-: holds no entry\n  remedy: " in ran.stderr


def test_wrapping_needs_one_crontab() -> None:
    assert observe("--wrap", "one", "two").returncode == 2
    late = observe("--wrap", "one", "--kind", "user")
    assert (late.returncode, b"--kind stands behind the crontab" in late.stderr) == (2, True)
    missing = observe("--wrap", "/no/such/crontab")
    assert missing.returncode == 3
    assert missing.stdout == b""


def test_an_entry_whose_user_cannot_start_this_python_stays_as_it_is_and_is_told(tmp_path: Path) -> None:
    need_root("gives a folder to itself alone")
    python = tmp_path / "closed" / "python"
    python.parent.mkdir(mode=0o700)
    python.touch(0o755)
    text = b"0 1 * * * nobody mine\n0 2 * * * root all\n0 3 * * * no-such-user theirs\n"
    file = parse(text, path="crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM)
    done = wrap(file, entry_ids([file]), obstacle=unreachable(python))
    first, *others = done.data.splitlines()
    assert first == b"0 1 * * * nobody mine"
    assert all(b"cron2queue observe" in line for line in others)
    assert done.left == (f"{file.path}:1: nobody cannot run {python}: install cron2queue where all can",)
    assert wrap(file, entry_ids([file]), obstacle=unreachable(Path("/bin/sh"))).left == ()


def test_words_for_nothing_to_do_are_looked_for_in_logs_that_hold_output(tmp_path: Path) -> None:
    (tmp_path / "crontab").write_text("* * * * * root poll\n")
    lines = [
        f"Nov 30 11:{minute:02}:01 db1 CROND[{400 + 10 * minute + child}]: (root) {said}\n"
        for minute in range(40)
        for child, said in ((1, "CMD (poll)"), (0, "CMDOUT (keine Arbeit)"), (0, "CMDEND (poll)"))
    ]
    (tmp_path / "cron").write_text("".join(lines))
    words = ["audit", "crontab", "--kind", "system", "--dialect", "cronie", "--logs", "cron", "--timezone", "UTC"]
    words += ["--at", "2026-12-01T00:00:00Z", "--format", "json", "--fail-on", "never"]

    def audited(*more: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [sys.executable, "-m", "cron2queue", *words, *more], capture_output=True, cwd=tmp_path, timeout=60
        )

    shares = [
        json.loads(audited(*more).stdout)["entries"][0]["evidence"]["empty_share"]
        for more in ((), ("--nothing-to-do", "keine ARBEIT"))
    ]
    assert shares == [None, 1.0]
    assert audited("--nothing-to-do", "(").returncode == 2
