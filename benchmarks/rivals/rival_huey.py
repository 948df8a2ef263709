"""Huey on SQLite at synchronous=FULL. It acknowledges before it runs a task, and keeps no history."""

import subprocess
import sys

from huey import SqliteHuey
from tally import Tally

huey = SqliteHuey(filename="huey.db", results=False, fsync=True)
tally = Tally()


@huey.task()
def noop() -> None:
    """Nothing, counted."""
    tally.add()


def fill(jobs: int) -> None:
    """Enqueue."""
    for _ in range(jobs):
        noop()


def work() -> None:
    """Until killed."""
    consumer = "rival_huey.huey", "-w", "1", "-k", "process", "-n", "-q"
    sys.exit(subprocess.run([sys.executable, "-m", "huey.bin.huey_consumer", *consumer], check=False).returncode)
