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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
    """Whether cron has made a job, within patience."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        with sqlite3.connect(path) as connection:
            found = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        connection.close()
        if found:
            return True
        time.sleep(0.5)
    return False


@pytest.mark.timeout(180)
def test_cron_itself_makes_the_job_and_a_worker_does_it(convert: Convert, tmp_path: Path) -> None:
    why = why_not()
    if why:
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    out, result = tmp_path / "out", tmp_path / "result"
    options = {"python": sys.executable, "database": f"sqlite:///{out}/jobs.db"}
    text = f"SHELL=/bin/sh\nA=declared\n* * * * * root printf '\\%s' \"$A\" >> {result}; cat >> {result}%given\n"
    name = convert(text, **options).merged.plan.jobs[0].name
    convert(text, decisions={name: "queue"}, **options)
    (out / "locks").mkdir()
    for folder in ("cron.d", "spool"):
        (tmp_path / folder).mkdir()
    (tmp_path / "empty").touch()
    shutil.copyfile(out / "crontab.new", tmp_path / "cron.d/generated")
    (tmp_path / "cron.d/generated").chmod(0o644)
    with sqlite3.connect(out / "jobs.db") as connection:
        connection.executescript((out / "migrations/sqlite/0001_job_table.up.sql").read_text())
    connection.close()
    daemon = subprocess.Popen(["unshare", "-m", "sh", "-c", NAMESPACE, "sh", str(tmp_path)], start_new_session=True)
    try:
        assert waiting_for(out / "jobs.db", "c2q_jobs"), "cron made no job within a minute"
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()
    work = ["-P", "-m", "cron2queue.runtime", "work", "--plan", str(out / "cron2queue.toml"), "--drain", "--quiet"]
    ran = subprocess.run([sys.executable, *work], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert result.read_text() == "declaredgiven\n"
