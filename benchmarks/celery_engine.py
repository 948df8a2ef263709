"""The same jobs through our own worker and through Celery on RabbitMQ, from one job table: jobs a second, and latency.

    python benchmarks/celery_engine.py DATABASE_URL BROKER_URL [JOBS]

The database must be empty and is left with the jobs of the run; the broker's queues are named `c2q.bench*`.
"""

import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from celery_bench import CeleryBench

from cron2queue.runtime.jobs import NewJob

PLAN = '[queues.default]\nconcurrency = 4\n\n[jobs.a]\nhandler = "handlers/work.py"\ntimeout = 60\n'
WARM_UP = 50
LATENCIES = 30


def succeeded(bench: CeleryBench) -> int:
    return bench.states().get("succeeded", 0)


def rate(bench: CeleryBench, engine: str, jobs: int) -> float:
    """Jobs a second with two processes, after the first ones."""
    before = succeeded(bench)
    bench.store.enqueue_many([NewJob(kind="a") for _ in range(jobs)])
    own = engine == "own"
    started = [bench.start("--queue", "default:2", "--children", "2")] if own else [bench.work(2), bench.relay()]
    bench.until(lambda: succeeded(bench) >= before + WARM_UP)
    first, began = succeeded(bench), time.monotonic()
    bench.until(lambda: succeeded(bench) == before + jobs)
    seconds = time.monotonic() - began
    for process in started:
        process.send_signal(signal.SIGTERM)
        process.wait()
    return (before + jobs - first) / seconds


def latency(bench: CeleryBench) -> float:
    """Median seconds from the enqueue to the end of a job that finds idle workers."""
    bench.work(2), bench.relay()
    taken = []
    for _ in range(LATENCIES):
        began = time.monotonic()
        job = bench.enqueue("a")
        bench.store.wake_workers()
        bench.until(lambda job=job: bench.job(job)["state"] == "succeeded")
        taken.append(time.monotonic() - began)
    return statistics.median(taken)


def main() -> None:
    database, broker = sys.argv[1:3]
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    with tempfile.TemporaryDirectory() as folder:
        bench = CeleryBench(Path(folder), database, broker=broker, project=f"bench{os.getpid()}")
        bench.plan(PLAN)
        bench.handlers('@handler("a")\ndef a(job):\n    pass\n')
        try:
            for engine in ("own", "celery"):
                print(f"{engine:<8}{rate(bench, engine, jobs):>10.0f} jobs/s")
            print(f"{'celery':<8}{latency(bench) * 1000:>10.0f} ms from enqueue to done")
        finally:
            bench.close()


if __name__ == "__main__":
    main()
