"""A whole worker (fence, attempts on record, retries, children) against a bare claim-and-settle loop on the same database.

    python benchmarks/worker.py [DATABASE ...] [--jobs N] [--rounds N] [--children N] [--workers N] [--single] [--strict]

Loop, one worker and `--workers` of them (two) run in turn in each round, each over N jobs a worker that do nothing; figures
are medians, and medians of each round's ratios. The bare loop is that of store.py in the same batch: in one process, without
calling anything. Batches are of 100, the group of a kind declared short. `--single` takes a kind that is not: one job at a
time a child. `--strict`: a commit for each end. Workers are up and wait when the queue is let go; then CPU and time count.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import NAMES, Database, open_database
from latency import cpu_seconds
from store import bare

from cron2queue.runtime.jobs import NewJob
from cron2queue.runtime.worker.proctree import descendants

BATCH = 100
SHARES = {"sqlite": 0.5, "mariadb": 0.7, "mysql": 0.7, "postgresql": 0.7}
GAINS = {"postgresql": 1.6, "mariadb": 1.3}  # of two workers against one
LEFT = "SELECT COUNT(*) FROM (SELECT id FROM {jobs} WHERE state <> 'succeeded' LIMIT 1) AS rest"


class Round(NamedTuple):
    """Jobs a second; and CPU seconds of one worker and its children."""

    by_hand: float
    one: float
    cpu: float
    many: float


def fill(database: Database, count: int) -> None:
    store = database.store()
    for start in range(0, count, 1000):
        store.enqueue_many([NewJob(kind="noop") for _ in range(min(1000, count - start))])
    store.close()


def ours(database: Database, folder: Path, options: argparse.Namespace) -> tuple[float, float]:
    """Seconds between the first claim and the last end, by the table; CPU seconds of all processes meanwhile."""
    declared = f"short={not options.single}, strict={options.strict}"
    (folder / "h.py").write_text(
        f"from cron2queue.runtime.handlers import handler\n@handler('noop', {declared})\ndef noop(job): pass\n"
    )
    (folder / "cron2queue.toml").write_text('[jobs.noop]\nhandler = "h.py"\n')
    store = database.store()
    store.pause("default", by="benchmark")
    command = [sys.executable, "-m", "cron2queue.runtime", "work", "--quiet", "--database", database.url]
    width = str(options.children)
    command += ["--children", width, "--queue", f"default:{width}"]
    workers = [subprocess.Popen(command, cwd=folder) for _ in range(options.workers)]
    try:
        wait_for(database, workers, "SELECT COUNT(*) FROM {workers}", len(workers))
        before = cpu_seconds(family(workers))
        store.resume("default", by="benchmark")
        wait_for(database, workers, LEFT, 0)
        cpu = cpu_seconds(family(workers)) - before
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
    assert [worker.wait() for worker in workers] == [0] * len(workers)
    ((first, last),) = database.rows("SELECT MIN(started_at), MAX(finished_at) FROM {jobs}")
    return (int(last) - int(first)) / 1e6, cpu


def wait_for(database: Database, workers: list[subprocess.Popen[bytes]], count: str, wanted: int) -> None:
    while database.value(count) != wanted:
        assert all(worker.poll() is None for worker in workers), "a worker has ended"
        time.sleep(0.1)


def family(workers: list[subprocess.Popen[bytes]]) -> list[int]:
    pids = [worker.pid for worker in workers]
    return pids + [each.pid for pid in pids for each in descendants(pid)]


def measured(name: str, options: argparse.Namespace) -> Round:
    """One round. The loop takes batches as the worker does: one job a child, if each end is committed by itself."""
    batch = options.children if options.single or options.strict else BATCH
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        database = open_database(name, folder)
        fill(database, options.jobs)
        by_hand = options.jobs / bare(database, batch)
        rates, costs = [], []
        for count in (1, options.workers):
            database.empty()
            fill(database, options.jobs * count)
            seconds, cpu = ours(database, folder, argparse.Namespace(**{**vars(options), "workers": count}))
            rates.append(options.jobs * count / seconds)
            costs.append(cpu)
        database.close()
    return Round(by_hand, rates[0], costs[0], rates[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="*", default=list(NAMES), metavar="DATABASE")
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--children", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    many = f"{options.workers} workers"
    print(f"{os.cpu_count()} processors; load {os.getloadavg()[0]:.1f}")
    titles = f"{'database':<12}{'bare/s':>9}{'worker/s':>10}{'share':>8}{'goal':>6}{'CPU us/job':>12}"
    print(f"{titles}{many:>12}{'times':>7}{'goal':>6}")
    for name in options.databases:
        rounds = [measured(name, options) for _ in range(options.rounds)]
        by_hand, one, cpu, together = (statistics.median(column) for column in zip(*rounds, strict=True))
        share = statistics.median(each.one / each.by_hand for each in rounds)
        gain = statistics.median(each.many / each.one for each in rounds)
        print(
            f"{name:<12}{by_hand:>9,.0f}{one:>10,.0f}{share:>8.2f}{SHARES[name]:>6}{cpu / options.jobs * 1e6:>12.0f}"
            f"{together:>12,.0f}{gain:>7.2f}{GAINS.get(name, '-'):>6}",
            flush=True,
        )


if __name__ == "__main__":
    main()
