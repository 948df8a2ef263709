"""A whole worker (fence, attempts on record, retries, children) against a bare claim-and-settle loop on the same database.

    python benchmarks/worker.py [DATABASE ...] [--jobs N] [--rounds N] [--children N] [--workers N] [--single] [--strict]

Both run in turn in each round, over the same number of jobs that do nothing; the figures are medians and ratios. The bare
loop is that of store.py, with batches of 100: in one process, without calling anything. `--single` takes kinds that are not
declared short: one job at a time. `--strict`: a commit for each end.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import NAMES, Database, open_database
from store import bare

from cron2queue.runtime.jobs import NewJob

BATCH = 100


def fill(database: Database, count: int) -> None:
    store = database.store()
    for start in range(0, count, 1000):
        store.enqueue_many([NewJob(kind="noop") for _ in range(min(1000, count - start))])
    store.close()


def ours(database: Database, folder: Path, options: argparse.Namespace) -> tuple[float, float]:
    """Seconds between the first claim and the last end, by the table; CPU seconds of all processes."""
    declared = f"short={not options.single}, strict={options.strict}"
    (folder / "h.py").write_text(
        f"from cron2queue.runtime.handlers import handler\n@handler('noop', {declared})\ndef noop(job): pass\n"
    )
    (folder / "cron2queue.toml").write_text('[jobs.noop]\nhandler = "h.py"\n')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "cron2queue.runtime", "work", "--drain", "--quiet", "--database", database.url]
    width = str(options.children)
    command += ["--children", width, "--queue", f"default:{width}"]
    workers = [subprocess.Popen(command, cwd=folder) for _ in range(options.workers)]
    assert [worker.wait() for worker in workers] == [0] * len(workers)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ((first, last),) = database.rows("SELECT MIN(started_at), MAX(finished_at) FROM {jobs}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (int(last) - int(first)) / 1e6, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="*", default=list(NAMES))
    parser.add_argument("--jobs", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--children", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    print(f"{'database':<12}{'bare/s':>10}{'worker/s':>10}{'share':>8}{'CPU us/job':>12}")
    for name in options.databases:
        rounds = []
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as folder:
                database = open_database(name, Path(folder))
                fill(database, options.jobs)
                by_hand = bare(database, BATCH)
                database.empty()
                fill(database, options.jobs)
                rounds.append((by_hand, *ours(database, Path(folder), options)))
                database.close()
        by_hand, worker, cpu = (statistics.median(column) for column in zip(*rounds, strict=True))
        share = statistics.median(each[0] / each[1] for each in rounds)
        n = options.jobs
        print(f"{name:<12}{n / by_hand:>10.0f}{n / worker:>10.0f}{share:>8.2f}{cpu / n * 1e6:>12.0f}")


if __name__ == "__main__":
    main()
