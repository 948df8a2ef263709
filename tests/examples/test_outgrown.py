"""The conversion for Celery is what convert makes today, and works: its programs run its jobs on a real broker."""

import getpass
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from configparser import RawConfigParser
from contextlib import suppress
from pathlib import Path

import pytest
from brokers import Node, free_port, need_rabbitmq

from cron2queue.crontab.dialect import dialect_named
from cron2queue.crontab.lines import Kind
from cron2queue.crontab.parser import parse

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "outgrown"
KEPT = EXAMPLE / "generated"
TOOLS = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
PATIENCE_SECONDS = 90.0
BEAT_FIRES = """
from celery_app import app
from cron2queue.runtime.celery.beat import TickScheduler
beat = TickScheduler(app)
for entry in list(beat.schedule.values()):
    beat.apply_entry(entry)
print(len(beat.schedule))
"""


def tree(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_bundled_tree_is_what_convert_writes(tmp_path: Path) -> None:
    copy = tmp_path / "outgrown"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["./convert.sh"], cwd=copy, env=TOOLS, check=True, capture_output=True)
    assert sorted(tree(copy / "generated")) == sorted(tree(KEPT))
    assert tree(copy / "generated") == tree(KEPT)


class Host:
    """One host: the example's folders moved to a place where a test may run them, as the user that runs the test."""

    def __init__(self, root: Path, broker: str) -> None:
        self.c2q, self.app = root / "c2q", root / "app"
        moved = {
            "/srv/c2q": str(self.c2q),
            "/srv/app": str(self.app),
            "/srv/venv/bin/python": sys.executable,
            "/run/lock/cron2queue": str(root),
            "www-data": getpass.getuser(),
        }
        shutil.copytree(EXAMPLE / "bin", self.app / "bin")
        for name, content in tree(KEPT).items():
            text = content.decode()
            for old, new in moved.items():
                text = text.replace(old, new)
            (self.c2q / name).parent.mkdir(parents=True, exist_ok=True)
            (self.c2q / name).write_text(text)
        database = f"sqlite:///{root / 'jobs.db'}"
        self.environment = {**TOOLS, "CRON2QUEUE_BROKER_URL": broker, "CRON2QUEUE_DATABASE_URL": database}
        self.programs: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, *words: str) -> str:
        ran = subprocess.run(words, cwd=self.c2q, env=self.environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def start(self) -> None:
        """Every program of the Supervisor file, with its words, in its folder."""
        read = RawConfigParser(comment_prefixes=(";",), inline_comment_prefixes=None)
        read.read(self.c2q / "units/supervisor/cron2queue-outgrown.conf")
        for name in read.sections():
            words = shlex.split(read[name]["command"].replace("%%", "%"))
            with (self.c2q / f"{name}.log").open("wb") as log:
                self.programs[name] = subprocess.Popen(
                    words, cwd=read[name]["directory"], env=self.environment, stdout=log, stderr=log, start_new_session=True
                )

    def done(self) -> list[str]:
        path = self.app / "done"
        return path.read_text().splitlines() if path.exists() else []

    def logs(self) -> str:
        return "\n".join(path.read_text()[-2000:] for path in self.c2q.glob("*.log"))

    def end(self) -> None:
        for each in self.programs.values():
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    need_rabbitmq()
    node = Node(folder=tmp_path / "rabbitmq", port=free_port())
    node.start()
    made = Host(tmp_path, node.url)
    yield made
    made.end()
    node.kill()


def test_its_programs_run_what_beat_and_cron_enqueue(host: Host) -> None:
    host.run("cron2queue", "migrate", "up", "--plan", "cron2queue.toml")
    assert host.run(sys.executable, "-c", BEAT_FIRES).strip() == "4"  # of three jobs: report has two entries
    crontab = parse(
        (host.c2q / "crontab.new").read_bytes(), path="/etc/crontab", dialect=dialect_named("debian"), kind=Kind.SYSTEM
    )
    lines = [entry.command for entry in crontab.entries if "enqueue" in entry.command]
    assert len(lines) == 1
    host.run("/bin/sh", "-c", lines[0])
    waiting = json.loads(host.run("cron2queue", "status", "--plan", "cron2queue.toml", "--format", "json"))
    assert {each["queue"]: each["ready"] for each in waiting["queues"]} == {"critical": 1, "imports": 1, "reports": 2}
    host.start()
    wanted = {"import-orders 1", "import-orders 2", "sync-stock 1", "report 1", "close-day 1"}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not wanted <= set(host.done()):
        assert time.monotonic() < deadline, host.logs()
        time.sleep(0.1)
    assert {name: each.poll() for name, each in host.programs.items()} == dict.fromkeys(
        ("program:outgrown-relay", "program:outgrown-beat", "program:outgrown-critical", "program:outgrown-imports",
         "program:outgrown-reports")
    )  # fmt: skip
    assert "Traceback" not in host.logs()
