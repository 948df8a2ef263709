"""What is counted and kept of jobs that end by other ways than their worker's settlement: by their own transaction, or lost."""

import os
import signal

import pytest
from workbench import Workbench

from cron2queue.runtime.jobs import Enqueued


def figures(bench: Workbench) -> dict[str, int]:
    """What the workers counted, durations aside."""
    left_out = "series NOT IN ('wait', 'run', 'wait_us', 'run_us')"
    query = f"SELECT series, n FROM {{rollups}} WHERE period = 0 AND rung = 0 AND {left_out}"
    return {series: int(n) for series, n in bench.rows(query)}


def attempt(bench: Workbench, job: Enqueued) -> dict[str, object]:
    (only,) = bench.attempts(job)
    (row,) = bench.rows("SELECT run_seconds, ended_at - started_at FROM {attempts} WHERE job_id = ?", (job.id,))
    return {**only, "run_seconds": row[0], "lasted": row[1]}


def test_a_job_that_its_transaction_completed_is_counted_and_its_output_kept(bench: Workbench) -> None:
    bench.python("book")
    bench.handlers("""
@handler("book")
def book(job):
    print("before")
    with job.transaction(result="r/1"):
        time.sleep(0.05)
    print("after, password=hunter2hunter2")
""")
    job = bench.enqueue("book")
    assert bench.drain() == 0
    assert (bench.job(job)["state"], bench.job(job)["result_ref"]) == ("succeeded", "r/1")
    kept = attempt(bench, job)
    assert kept["outcome"] == "done"
    assert "before\nafter" in str(kept["output_tail"])
    assert "hunter2" not in str(kept["output_tail"])
    assert float(str(kept["run_seconds"])) >= 0.05
    assert int(str(kept["lasted"])) >= 50_000
    assert figures(bench) == {"outcome:done": 1, "succeeded": 1}
    assert bench.rows("SELECT SUM(n) FROM {rollups} WHERE period = 0 AND series = 'run'") == [(1,)]


@pytest.mark.parametrize("end", ["raise RuntimeError('too late')", "os.kill(os.getpid(), 9)", "sys.exit(75)"])
def test_nothing_that_a_handler_does_after_its_transaction_changes_how_its_job_ended(bench: Workbench, end: str) -> None:
    bench.python("book", retry=[0])
    bench.handlers(f"""
@handler("book")
def book(job):
    note("ran")
    with job.transaction():
        pass
    {end}
""")
    job = bench.enqueue("book")
    assert bench.drain() == 0
    assert bench.job(job)["state"] == "succeeded"
    assert bench.lines("ran") == ["x"]
    assert figures(bench) == {"outcome:done": 1, "succeeded": 1}
    assert "failed after that" in bench.log()
    assert "lease lost" not in bench.log()


def test_progress_that_is_told_after_the_transaction_takes_no_job_for_lost(bench: Workbench) -> None:
    bench.python("book")
    bench.handlers("""
@handler("book")
def book(job):
    with job.transaction():
        pass
    for row in range(100):
        job.progress("late", row / 100)
        time.sleep(0.02)
    note("after")
""")
    job = bench.enqueue("book")
    assert bench.drain() == 0
    assert bench.lines("after") == ["x"]
    assert bench.job(job)["state"] == "succeeded"
    assert figures(bench) == {"outcome:done": 1, "succeeded": 1}


def test_a_lease_is_counted_as_lost_whoever_notices_it(bench: Workbench) -> None:
    """By its next beat, or when it comes to its end: `check` and the metrics know of both."""
    bench.python("slow", retry=[0])
    gate = bench.gate("slow")
    bench.handlers("""
@handler("slow")
def slow(job):
    if job.attempt == 1:
        arrive("slow")
        wait("slow")
""")
    job = bench.enqueue("slow")
    zombie = bench.start("--lease", "1.2")
    gate.arrived()
    os.kill(zombie.pid, signal.SIGSTOP)
    rescuer = bench.start("--lease", "1.2", "--drain")
    bench.until(lambda: figures(bench).get("rescued"))  # at once: who rescues may be the next to go
    assert rescuer.wait(60) == 0
    assert bench.job(job)["state"] == "succeeded"
    os.kill(zombie.pid, signal.SIGCONT)
    bench.until(lambda: "lease lost" in bench.log(0))
    zombie.terminate()
    assert zombie.wait(60) == 0
    assert figures(bench) == {
        "rescued": 1, "outcome:rescued": 1, "failed": 1, "retried": 1, "lease_lost": 1, "outcome:done": 1, "succeeded": 1,
    }  # fmt: skip
