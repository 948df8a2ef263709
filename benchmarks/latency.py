"""An idle worker: how soon a job begins, what it costs to wait, and how much memory it takes.

    python benchmarks/latency.py [DATABASE ...] [--jobs N] [--idle SECONDS]

Latency is from the return of `enqueue` in this process to the first line of the handler in the worker's child, both by
CLOCK_MONOTONIC. `enqueue` is how long the enqueue itself took, which is one durable commit, as the claim before a start is
another; `start/commit` is the ratio of the two. The table has held jobs before: SQLite's log has its whole length by then,
and a commit that writes over it takes the disk less than one that makes it longer. Memory is RSS and PSS of the supervisor
and of one idle child, from /proc, in MiB; PSS is smaller while other processes share what they have loaded.
"""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import NAMES, open_database

from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.worker.proctree import descendants

GOALS = {"sqlite": 1.0, "mariadb": 4.0, "postgresql": 2.5}  # p50 in ms
GOALS_OF_ALL = "goals: idle at most 0.5 %; RSS at most 45, PSS at most 25 MiB, supervisor and child alike"
USED = 3000  # jobs that were enqueued before, in a queue of their own

HANDLER = """
import os, time
from cron2queue.runtime.handlers import handler
pipe = os.open(os.path.join(os.path.dirname(__file__), "started"), os.O_WRONLY)

@handler("ping")
def ping(job):
    os.write(pipe, f"{time.monotonic()}\\n".encode())
"""


def memory(pid: int) -> tuple[float, float]:
    """RSS and PSS in MiB."""
    found = {"Rss": 0.0, "Pss": 0.0}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        name = line.partition(":")[0]
        if name in found:
            found[name] = int(line.split()[1]) / 1024
    return found["Rss"], found["Pss"]


def cpu_seconds(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(name: str, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        database = open_database(name, folder)
        os.mkfifo(folder / "started")
        started = os.open(folder / "started", os.O_RDWR)
        (folder / "h.py").write_text(HANDLER)
        (folder / "cron2queue.toml").write_text('[jobs.ping]\nhandler = "h.py"\n')
        command = [sys.executable, "-m", "cron2queue.runtime", "work", "--quiet", "--database", database.url]
        worker = subprocess.Popen([*command, "--children", "1"], cwd=folder)
        store = database.store()
        store.enqueue_many([NewJob(kind="other", queue="elsewhere") for _ in range(USED)])
        waits, commits = [], []
        for number in range(options.jobs + 1):
            asked = time.monotonic()
            store.enqueue(NewJob(kind="ping"))
            returned = time.monotonic()
            began = float(os.read(started, 100))
            if number:
                waits.append(max(0.0, began - returned) * 1000)
                commits.append((returned - asked) * 1000)
            time.sleep(random.uniform(0.05, 0.15))
        family = [worker.pid, *(each.pid for each in descendants(worker.pid))]
        before = cpu_seconds(family)
        time.sleep(options.idle)
        idle = (cpu_seconds(family) - before) / options.idle * 100
        sizes = [memory(pid) for pid in (family[0], family[-1])]
        worker.send_signal(signal.SIGTERM)
        worker.wait()
        os.close(started)
        database.close()
        waits.sort()
        shown = "".join(f"{rss:>9.0f}{pss:>7.0f}" for rss, pss in sizes)
        p50, p99, commit = statistics.median(waits), waits[int(len(waits) * 0.99)], statistics.median(commits)
        goal = GOALS.get(name, "-")
        print(f"{name:<12}{p50:>7.2f}{goal:>6}{p99:>8.2f}{commit:>9.2f}{p50 / commit:>14.2f}{idle:>8.2f}{shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="*", default=list(NAMES))
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--idle", type=float, default=10.0)
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors; load {os.getloadavg()[0]:.1f}; {GOALS_OF_ALL}")
    titles = f"{'database':<12}{'p50 ms':>7}{'goal':>6}{'p99':>8}{'enqueue':>9}{'start/commit':>14}{'idle %':>8}"
    print(f"{titles}{'sup RSS':>9}{'PSS':>7}{'chd RSS':>9}{'PSS':>7}", flush=True)
    for name in options.databases:
        measure(name, options)


if __name__ == "__main__":
    main()
