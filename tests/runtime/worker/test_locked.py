"""A lock has one identity: a crontab's `cron2queue lock NAME` and a job whose plan names it never run side by side."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from workbench import Gate, Workbench

from cron2queue.errors import UsageError
from cron2queue.runtime.locks.locking import FOLDER_VARIABLE
from cron2queue.runtime.settings import settings_from

PROGRAM = "#!/bin/sh\necho here > begun.arrived\ncat begun.go > /dev/null\n"


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, FOLDER_VARIABLE: str(folder)}


def lock_line(bench: Workbench, *command: str, folder: str = "locks") -> "subprocess.Popen[str]":
    """What a crontab starts; what it says is in line.log."""
    said = (bench.folder / "line.log").open("w")
    line = subprocess.Popen(
        [sys.executable, "-m", "cron2queue.runtime", "lock", "import", "--folder", str(bench.folder / folder), "--", *command],
        cwd=bench.folder,
        text=True,
        stderr=said,
    )
    said.close()
    return line


def plan(bench: Workbench, **keys: object) -> None:
    bench.python("load other", **keys)
    text = (bench.folder / "cron2queue.toml").read_text().replace("[jobs.load]\n", '[jobs.load]\nlock = "import"\n')
    bench.write("cron2queue.toml", f'[project]\nlock-folder = "{bench.folder}/locks"\n{text}')
    bench.handlers(
        '@handler("load")\ndef load(job):\n    arrive("begun"); wait("begun")\n    note("done", "load")\n'
        '@handler("other")\ndef other(job):\n    note("done", "other")\n'
    )


def test_a_job_waits_uncounted_while_a_line_of_the_crontab_holds_its_lock_and_others_run(bench: Workbench) -> None:
    plan(bench)
    line_gate, gate = bench.gate("line"), bench.gate("begun")
    line = lock_line(bench, "/bin/sh", "-c", "echo here > line.arrived; cat line.go > /dev/null")
    assert line_gate.arrived().strip() == "here"
    load, other = bench.enqueue("load"), bench.enqueue("other")
    bench.start("--children", "1")
    bench.until(lambda: bench.job(other)["state"] == "succeeded")
    bench.until(lambda: (waiting := bench.job(load))["state"] == "scheduled" and waiting["attempts"] == 0)
    assert "the lock import is held by another run" in bench.log()
    line_gate.open()
    assert line.wait(60) == 0
    assert gate.arrived() == "here"
    gate.open()
    bench.until(lambda: bench.job(load)["state"] == "succeeded")
    assert bench.job(load)["attempts"] == 1
    assert bench.lines("done") == ["other", "load"]


def test_a_line_of_the_crontab_runs_nothing_while_the_job_runs(sqlite_bench: Workbench) -> None:
    bench = sqlite_bench
    plan(bench)
    gate = bench.gate("begun")
    bench.enqueue("load")
    bench.start()
    gate.arrived()
    line = lock_line(bench, "/bin/sh", "-c", "echo ran >> done")
    assert line.wait(60) == 75
    assert "is held by another run" in (bench.folder / "line.log").read_text()
    gate.open()
    bench.until(lambda: bench.lines("done") == ["load"])
    bench.until(lambda: bench.states() == {"succeeded": 1})
    assert lock_line(bench, "/bin/sh", "-c", "echo ran >> done").wait(60) == 0


def _program(bench: Workbench) -> Gate:
    bench.write("handlers/load", PROGRAM, mode=0o755)
    keys = f'[project]\nlock-folder = "{bench.folder}/locks"\n[jobs.load]\nhandler = "handlers/load"\nlock = "import"\n'
    bench.write("cron2queue.toml", keys)
    return bench.gate("begun")


def test_a_program_holds_the_lock_itself_so_that_the_end_of_its_worker_does_not_free_it_before(sqlite_bench: Workbench) -> None:
    bench = sqlite_bench
    gate = _program(bench)
    bench.enqueue("load")
    worker = bench.start()
    assert gate.arrived().strip() == "here"
    holders = [each for each in _holders(bench.folder / "locks" / "import.lock") if each != worker.pid]
    names = {Path(f"/proc/{each}/comm").read_text().strip() for each in holders}
    assert "load" in names
    worker.send_signal(signal.SIGKILL)
    bench.until(lambda: not _holders(bench.folder / "locks" / "import.lock"))  # the program is ended with its worker
    assert lock_line(bench, "/bin/true").wait(60) == 0


def _holders(file: Path) -> list[int]:
    """Who has the file open."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                if any(each.readlink() == file for each in (process / "fd").iterdir()):
                    found.append(int(process.name))
            except OSError:
                continue
    return found


def test_a_job_whose_lock_cannot_be_had_is_never_run_and_says_why(sqlite_bench: Workbench) -> None:
    bench = sqlite_bench
    plan(bench, retry="none")
    (bench.folder / "locks").mkdir()
    (bench.folder / "locks").chmod(0o777)
    load = bench.enqueue("load")
    assert bench.drain() == 0
    assert bench.job(load)["state"] == "dead"
    (attempt,) = bench.attempts(load)
    assert attempt["outcome"] == "could_not_start"
    assert "can be written to by others" in attempt["diagnostic"]
    assert not (bench.folder / "done").exists()


def test_a_decorator_names_a_lock_too_and_the_environment_its_folder(sqlite_bench: Workbench) -> None:
    bench = sqlite_bench
    bench.python("load")
    bench.handlers('@handler("load", lock="import")\ndef load(job):\n    arrive("begun"); wait("begun")\n')
    gate = bench.gate("begun")
    bench.enqueue("load")
    bench.start(environment=_environment(bench.folder / "elsewhere"))
    gate.arrived()
    assert lock_line(bench, "/bin/true", folder="elsewhere").wait(60) == 75
    gate.open()
    bench.until(lambda: bench.states() == {"succeeded": 1})


def test_a_cancel_ends_a_job_that_waits_for_its_lock(sqlite_bench: Workbench) -> None:
    bench = sqlite_bench
    plan(bench)
    line_gate = bench.gate("line")
    line = lock_line(bench, "/bin/sh", "-c", "echo here > line.arrived; cat line.go > /dev/null")
    line_gate.arrived()
    load = bench.enqueue("load")
    bench.start()
    bench.until(lambda: bench.job(load)["state"] == "scheduled")
    bench.until(lambda: bench.store.cancel(load.public_id, by="test"))
    bench.until(lambda: bench.job(load)["state"] == "cancelled")
    line_gate.open()
    assert line.wait(60) == 0


@pytest.mark.parametrize("name", ["", "../etc", ".hidden", "a b", "x" * 101])
def test_what_cannot_name_a_lock_is_refused_when_the_worker_starts(sqlite_bench: Workbench, name: str) -> None:
    bench = sqlite_bench
    bench.python("load", lock=name)
    bench.handlers('@handler("load")\ndef load(job):\n    pass\n')
    assert bench.drain() == 2
    assert "cannot be the name of a lock" in bench.log()


def test_a_lock_of_the_whole_database_is_refused_with_what_there_is(tmp_path: Path) -> None:
    job = {"command": "true", "lock": "import", "scope": "database"}
    with pytest.raises(UsageError, match=r"jobs\.load\.lock is a lock of one host") as refused:
        settings_from({"jobs": {"load": job}}, folder=tmp_path)
    assert "--scope database" in str(refused.value)


def test_the_lock_command_uses_the_folder_of_the_plan(sqlite_bench: Workbench) -> None:
    bench = sqlite_bench
    bench.write("cron2queue.toml", f"[project]\nlock-folder = {json.dumps(str(bench.folder / 'planned'))}\n")
    command = [sys.executable, "-m", "cron2queue.runtime", "lock", "import", "--", "/bin/true"]
    environment = {name: value for name, value in os.environ.items() if name != FOLDER_VARIABLE}
    assert subprocess.run(command, cwd=bench.folder, env=environment).returncode == 0
    assert (bench.folder / "planned" / "import.lock").is_file()


def test_a_worker_of_root_takes_the_lock_that_belongs_to_the_user_of_its_job(sqlite_bench: Workbench) -> None:
    bench = sqlite_bench
    if os.geteuid() != 0:
        pytest.skip("only root may work for other users")
    folder = bench.folder / "locks"
    folder.mkdir(mode=0o755)
    (folder / "import.lock").touch(mode=0o600)
    os.chown(folder / "import.lock", 65534, 65534)
    keys = f'[project]\nlock-folder = "{folder}"\n[jobs.load]\ncommand = "echo ran"\nuser = "nobody"\nlock = "import"\n'
    bench.write("cron2queue.toml", keys)
    load = bench.enqueue("load")
    assert bench.drain() == 0
    assert bench.job(load)["state"] == "succeeded"
    assert (folder / "import.lock").stat().st_uid == 65534
