"""What the handbook promises of jobs under Celery, on a real broker: sight, backpressure, pauses, limits, order, cancels."""

import json
import os
import signal
import subprocess
import sys

import pytest
from celery_bench import CeleryBench

from cron2queue.runtime.jobs import Enqueued

PLAN = """
[queues.default]
concurrency = 3
depth-limit = 100
age-limit = 300

[jobs.work]
handler = "handlers/work.py"
timeout = 60
retry = [0.1]

[jobs.spared]
handler = "handlers/work.py"
timeout = 60
max-attempts = 5

[jobs.short]
handler = "handlers/work.py"
timeout = 60
short = true
"""
HANDLERS = """
@handler("work")
def work(job):
    what = job.payload
    note("order", what["name"])
    if "gate" in what:
        job.progress("half of it", 0.5)
        arrive(what["gate"])
        wait(what["gate"])
    note("ended", what["name"])

@handler("spared")
def spared(job):
    note("spared", f"{job.payload['name']} {job.attempt}")
    if job.payload["name"] == "first" and job.attempt == 1:
        raise RetryLater(3600, pause_kind=True, message="429 Too Many Requests")

@handler("short")
def short(job):
    note("short", str(job.attempt))
"""


@pytest.fixture(scope="module")
def live(running: CeleryBench) -> CeleryBench:
    running.plan(PLAN)
    running.handlers(HANDLERS)
    running.work(3)
    running.relay()
    return running


def succeeded(bench: CeleryBench, *jobs: Enqueued) -> None:
    bench.until(lambda: all(bench.job(job)["state"] == "succeeded" for job in jobs))


def command(bench: CeleryBench, *words: str, status: int = 0) -> str:
    called = [sys.executable, "-m", "cron2queue", *words, "--database", bench.url]
    ran = subprocess.run(called, capture_output=True, text=True, cwd=bench.folder)
    assert ran.returncode == status, ran.stderr
    return ran.stdout + ran.stderr


def figure(bench: CeleryBench, name: str, *labels: str) -> float:
    """One value of `cron2queue metrics`; 0 for what was not counted yet."""
    lines = command(bench, "metrics").splitlines()
    found = [line for line in lines if line.startswith(f"cron2queue_{name}{{") and all(each in line for each in labels)]
    assert len(found) <= 1 and "cron2queue_up 1" in lines
    return float(found[0].rpartition(" ")[2]) if found else 0.0


def test_progress_is_seen_while_a_job_runs(live: CeleryBench) -> None:
    gate = live.gate("seen")
    job = live.enqueue("work", {"name": "seen", "gate": "seen"})
    gate.arrived()
    live.until(lambda: (live.job(job)["progress"], live.job(job)["phase"]) == (0.5, "half of it"))
    shown = json.loads(command(live, "jobs", "show", job.public_id, "--format", "json"))
    assert (shown["state"], shown["progress"]) == ("running", {"fraction": 0.5, "phase": "half of it"})
    gate.open()
    succeeded(live, job)


def test_metrics_count_jobs_workers_and_attempts(live: CeleryBench) -> None:
    before = live.enqueue("short")
    succeeded(live, before)
    live.until(lambda: figure(live, "attempts_total", 'kind="short"', 'outcome="done"') >= 1)
    assert figure(live, "workers", 'queue="default"') == 3
    assert figure(live, "run_seconds_count", 'kind="short"') >= 1
    assert figure(live, "concurrency_limit", 'queue="default"') == 3
    assert figure(live, "depth_limit", 'queue="default"') == 100


def test_a_paused_queue_runs_nothing_and_its_depth_age_and_limits_are_seen(live: CeleryBench) -> None:
    command(live, "queues", "pause", "default")
    jobs = [live.enqueue("work", {"name": f"paused {number}"}) for number in range(3)]
    live.until(lambda: figure(live, "oldest_ready_seconds", 'queue="default"') > 1)
    publisher = live.publisher()
    live.until(lambda: publisher.waiting("default") == 0)  # what was at the broker is dropped
    assert {live.job(job)["state"] for job in jobs} == {"ready"}
    assert figure(live, "paused", 'queue="default"') == 1
    assert figure(live, "jobs", 'queue="default"', 'state="ready"') == 3
    told = json.loads(command(live, "status", "--format", "json"))["queues"][0]
    assert told["ready"] == 3 and told["paused"]
    command(live, "queues", "limit", "default", "--depth", "3")
    full = command(live, "enqueue", "work", "--plan", "cron2queue.toml", status=75)
    assert "full" in full or "limit" in full
    live.until(lambda: figure(live, "refused_total", 'kind="work"') == 1)
    command(live, "queues", "limit", "default", "--depth", "100")
    command(live, "queues", "resume", "default")
    succeeded(live, *jobs)
    assert all(len(live.attempts(job)) == 1 for job in jobs)


def test_check_tells_monitoring_of_a_late_queue(live: CeleryBench) -> None:
    before = live.enqueue("short")
    succeeded(live, before)
    live.store.pause("default", by="test")
    job = live.enqueue("work", {"name": "late"})
    live.store.set_limit("queue", "default", by="test", age=0.01)
    live.until(lambda: figure(live, "oldest_ready_seconds", 'queue="default"') > 0.1)
    late = command(live, "check", status=2)
    assert late.startswith("CRON2QUEUE CRITICAL - default: the oldest")
    live.store.set_limit("queue", "default", by="test", age=300)
    live.store.resume("default", by="test")
    succeeded(live, job)


def test_a_kind_that_was_told_to_wait_is_kept_back_and_others_go_on(live: CeleryBench) -> None:
    first = live.enqueue("spared", {"name": "first"})
    live.until(lambda: live.job(first)["state"] == "scheduled")
    second = live.enqueue("spared", {"name": "second"})
    other = live.enqueue("work", {"name": "other"})
    succeeded(live, other)
    live.until(lambda: live.job(second)["state"] == "scheduled")  # its message was taken, and the job put off
    assert live.lines("spared") == ["first 1"]
    live.store.resume_kind("spared", by="test")
    succeeded(live, second)
    assert len(live.attempts(second)) == 1
    live.until(lambda: figure(live, "foreign_errors_total", 'cause="429"') == 1)


@pytest.mark.parametrize(("scope", "name"), [("queue", "default"), ("kind", "work"), ("key", "customer 7")])
def test_limits_hold_over_all_processes(live: CeleryBench, scope: str, name: str) -> None:
    live.store.set_limit(scope, name, by="test", concurrency=1)
    gate = live.gate(f"one of {scope}")
    held = live.enqueue("work", {"name": f"{scope} 0", "gate": f"one of {scope}"}, limit_key="customer 7")
    gate.arrived()
    jobs = [live.enqueue("work", {"name": f"{scope} {number}"}, limit_key="customer 7") for number in range(1, 4)]
    free = [live.enqueue("short")] if scope != "queue" else []
    succeeded(live, *free)  # what is under no limit overtakes
    assert [line for line in live.lines("order") if line.startswith(f"{scope} ")] == [f"{scope} 0"]
    gate.open()
    succeeded(live, held, *jobs)
    live.store.set_limit(scope, name, by="test", concurrency=None if scope != "queue" else 3)
    assert all(len(live.attempts(job)) == 1 for job in jobs)


def test_a_rate_holds_over_all_processes(live: CeleryBench) -> None:
    live.store.set_limit("kind", "short", by="test", rate=4.0, burst=1)
    jobs = [live.enqueue("short") for _ in range(4)]
    succeeded(live, *jobs)
    times = sorted(row[0] for row in live.rows("SELECT started_at FROM {jobs} ORDER BY id DESC LIMIT 4"))
    assert times[-1] - times[0] >= 3 * 0.25 * 1e6 * 0.9
    live.store.set_limit("kind", "short", by="test", rate=None)


def test_jobs_of_one_ordering_key_run_in_their_order_one_at_a_time(live: CeleryBench) -> None:
    jobs = [live.enqueue("work", {"name": f"ordered {number}"}, ordering_key="customer 1") for number in range(6)]
    succeeded(live, *jobs)
    assert [line for line in live.lines("ended") if line.startswith("ordered")] == [f"ordered {number}" for number in range(6)]


def test_a_job_that_waits_at_the_broker_is_cancelled_and_never_runs(live: CeleryBench) -> None:
    live.store.set_limit("queue", "default", by="test", concurrency=1)
    gate = live.gate("before")
    first = live.enqueue("work", {"name": "before", "gate": "before"})
    gate.arrived()
    waiting = live.enqueue("work", {"name": "never"})
    assert "cancelled" in command(live, "jobs", "cancel", waiting.public_id)
    gate.open()
    succeeded(live, first)
    live.store.set_limit("queue", "default", by="test", concurrency=3)
    last = live.enqueue("work", {"name": "after"})
    succeeded(live, last)
    assert live.job(waiting)["state"] == "cancelled"
    assert "never" not in live.lines("order")


def test_the_best_priority_overtakes_what_is_not_at_the_broker_yet(bench: CeleryBench) -> None:
    bench.plan(PLAN)
    bench.handlers(HANDLERS)
    gate = bench.gate("hold")
    bench.work(1)
    bench.relay("--window", "2")
    held = bench.enqueue("work", {"name": "hold", "gate": "hold"})
    gate.arrived()
    jobs = [bench.enqueue("work", {"name": f"plain {number}"}) for number in range(6)]
    publisher = bench.publisher()
    bench.until(lambda: publisher.waiting("default") + 1 >= 2)  # one more may be in the worker's hands already
    urgent = bench.enqueue("work", {"name": "urgent"}, priority=1)
    gate.open()
    succeeded(bench, held, urgent, *jobs)
    assert bench.lines("order").index("urgent") <= 4


def test_a_job_that_kills_its_process_three_times_is_dead_and_the_others_run(bench: CeleryBench) -> None:
    bench.plan(PLAN)
    bench.handlers(HANDLERS)
    bench.work(2)
    bench.relay()
    gate = bench.gate("deadly")
    job = bench.enqueue("work", {"name": "deadly", "gate": "deadly"})
    for _ in range(3):
        gate.arrived()
        token = bench.until(lambda: bench.job(job)["worker"])
        ((pid,),) = bench.rows("SELECT pid FROM {workers} WHERE token = ?", (token,))
        os.kill(int(pid), signal.SIGKILL)
        bench.until(lambda token=token: bench.job(job)["worker"] != token)
    bench.until(lambda: bench.job(job)["state"] == "dead")
    assert bench.job(job)["crashes"] == 3
    other = bench.enqueue("short")
    succeeded(bench, other)
    assert bench.workers[0].poll() is None


def test_a_restart_mark_lets_the_worker_end_well_after_its_jobs(bench: CeleryBench) -> None:
    bench.plan(PLAN)
    bench.handlers(HANDLERS)
    worker, _ = bench.work(1), bench.relay()
    gate = bench.gate("last")
    job = bench.enqueue("work", {"name": "last", "gate": "last"})
    gate.arrived()
    command(bench, "workers", "restart")
    bench.until(lambda: "Warm shutdown" in bench.log(0))
    gate.open()
    assert worker.wait(60) == 0
    assert bench.job(job)["state"] == "succeeded"
