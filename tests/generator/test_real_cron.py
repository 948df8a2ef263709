"""A real Debian cron daemon runs a generated crontab, and the job is done by a real worker.

The daemon lives in a mount namespace of its own, in which /etc/cron.d, /etc/crontab and the spool are ours alone: it starts
nothing of this host, and leaves nothing behind.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from presence import absent

Convert = Callable[..., Any]
PATIENCE = 80  # seconds: cron looks once a minute

NAMESPACE = """
set -e
mount --make-rprivate /
mount --bind "$1/cron.d" /etc/cron.d
mount --bind "$1/empty" /etc/crontab
mount --bind "$1/spool" /var/spool/cron/crontabs
mount -t tmpfs tmpfs /run
exec cron -f
"""


def why_not() -> str | None:
    """Why no daemon can be run here, or None."""
    if shutil.which("cron") is None:
        return "the package cron is not installed"
    if os.geteuid() != 0:
        return "only root can run cron"
    allowed = subprocess.run(["unshare", "-m", "true"], capture_output=True)
    return None if allowed.returncode == 0 else "mount namespaces are not allowed here"


def waiting_for(path: Path, table: str) -> bool:
    """Whether there is a row, within patience."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(path)) as connection:
            if connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]:
                return True
        time.sleep(0.5)
    return False


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    """What the daemon sees as /etc/cron.d, /etc/crontab and its spool."""
    if why := why_not():
        absent(why)
    for folder in ("cron.d", "spool"):
        (tmp_path / folder).mkdir()
    (tmp_path / "empty").touch()
    return tmp_path


@contextmanager
def daemon(etc: Path) -> Iterator[None]:
    """Cron at work on these files alone."""
    running = subprocess.Popen(["unshare", "-m", "sh", "-c", NAMESPACE, "sh", str(etc)], start_new_session=True)
    try:
        yield
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def work(plan: Path) -> None:
    """A worker takes all that waits."""
    words = ["-P", "-m", "cron2queue.runtime", "work", "--plan", str(plan), "--drain", "--quiet"]
    ran = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.timeout(180)
def test_cron_itself_makes_the_job_and_a_worker_does_it(convert: Convert, etc: Path, tmp_path: Path) -> None:
    out, result = tmp_path / "out", tmp_path / "result"
    options = {"python": sys.executable, "database": f"sqlite:///{out}/jobs.db"}
    text = f"SHELL=/bin/sh\nA=declared\n* * * * * root printf '\\%s' \"$A\" >> {result}; cat >> {result}%given\n"
    name = convert(text, **options).merged.plan.jobs[0].name
    convert(text, decisions={name: "queue"}, **options)
    (out / "locks").mkdir()
    shutil.copyfile(out / "crontab.new", etc / "cron.d/generated")
    (etc / "cron.d/generated").chmod(0o644)
    with closing(sqlite3.connect(out / "jobs.db")) as connection:
        connection.executescript((out / "migrations/sqlite/0001_job_table.up.sql").read_text())
    with daemon(etc):
        assert waiting_for(out / "jobs.db", "c2q_jobs"), "cron made no job within a minute"
    work(out / "cron2queue.toml")
    assert result.read_text() == "declaredgiven\n"


@pytest.mark.timeout(180)
def test_in_shadow_what_cron_ran_and_what_the_queue_would_have_run_are_compared(etc: Path, tmp_path: Path) -> None:
    crontab, out, result = etc / "cron.d/shop", tmp_path / "out", tmp_path / "result"
    declared = "# cron2queue: name=work user-waits=yes lost-on-failure=yes\n"
    crontab.write_text(f"SHELL=/bin/sh\nHOME={tmp_path}\n{declared}* * * * * root echo ran >> {result}\n")
    crontab.chmod(0o644)
    places = ("--set", f"python={sys.executable}", "--set", f"lock-folder={out}/locks")
    converted = run("convert", str(crontab), "--kind", "system", "--into", str(out), "--shadow", "--observe", *places)
    assert converted.status == 0, converted.err
    assert run("migrate", "up", "--plan", f"{out}/cron2queue.toml").status == 0
    applied = run("apply", str(out), "--yes")
    assert applied.status == 0, applied.err
    recording = tmp_path / ".local/state/cron2queue/observations.db"
    with daemon(etc):
        assert waiting_for(out / "cron2queue.db", "c2q_jobs"), "the producer made no job within a minute"
        assert waiting_for(recording, "observation"), "the old line was not run within a minute"
    look = ("diff", str(out), "--shadow", "--observations", str(recording), "--format", "json")
    before = run(*look)
    assert before.status == 1, before.err
    assert before.json["entries"][0]["waiting"] == 1
    work(out / "cron2queue.toml")
    after = run(*look)
    assert after.status == 0, after.out
    (entry,) = after.json["entries"]
    assert [entry[key] for key in ("entry", "cron", "queue", "both", "waiting", "alike")] == ["work", 1, 1, 1, 0, True]
    assert entry["later_seconds"]["median"] > 0
    assert result.read_text() == "ran\n", "the shadow did the work a second time"
