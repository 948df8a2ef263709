"""Handlers written for our own workers run under Celery, and are offered the same."""

import json
import subprocess
import sys

import pytest
from celery_bench import CeleryBench

from cron2queue.runtime.celery.publishing import Ready
from cron2queue.runtime.jobs import Enqueued

PLAN = """
[queues.default]
concurrency = 2

[jobs.work]
handler = "handlers/work.py"
timeout = 60
retry = [0.1]
max-attempts = 3

[jobs.once]
handler = "handlers/work.py"
timeout = 60

[jobs.slow]
handler = "handlers/work.py"
timeout = 0.5
grace = 0.1
retry = "none"

[jobs.command]
handler = "command"
command = "echo attempt $C2Q_ATTEMPT of $C2Q_IDEMPOTENCY_KEY; [ $C2Q_ATTEMPT -gt 1 ] || exit 75"
timeout = 60
retry = [0.1]

[jobs.program]
handler = "handlers/program.sh"
timeout = 60
"""
HANDLERS = """
@handler("work")
def work(job):
    note("keys", f"{job.id} {job.idempotency_key}")
    what = job.payload["do"]
    if what == "later" and job.attempt == 1:
        raise RetryLater(0.2, message="429 Too Many Requests")
    if what == "never" and not (pathlib.Path(__file__).parent.parent / "repaired").exists():
        raise Permanent("no such customer")
    if what == "wait":
        arrive("wait")
        while True:
            job.checkpoint()
            time.sleep(0.01)
    job.progress("half", 0.5)
    job.result(f"attempt {job.attempt} of {job.max_attempts}, key {job.key}")

@handler("once")
def once(job):
    with job.transaction() as connection:
        if job.once(job.payload["message"]):
            connection.execute("INSERT INTO effects VALUES (?)", (job.payload["message"],))

@handler("slow")
def slow(job):
    time.sleep(60)
"""


MODULE = """
from cron2queue.runtime.handlers import handler

@handler("ours.export", timeout=60)
def export(job):
    job.result(f"exported {job.payload}")
"""


@pytest.fixture(scope="module")
def live(running: CeleryBench) -> CeleryBench:
    running.plan(PLAN, handlers="ours")
    running.write("ours.py", MODULE)
    running.handlers("import pathlib\n" + HANDLERS)
    running.write("handlers/program.sh", '#!/bin/sh\ncat >&2\necho \'{"result": "made"}\' >&3\n', 0o755)
    running.store.sessions.unit(lambda session: session.run("CREATE TABLE effects (message TEXT)"))
    running.work(2)
    running.relay()
    return running


def end_of(bench: CeleryBench, job: Enqueued, *states: str) -> str:
    wanted = states or ("succeeded", "dead", "cancelled")
    return str(bench.until(lambda: (state := bench.job(job)["state"]) in wanted and state))


def test_a_python_handler_is_given_its_payload_key_and_attempt(live: CeleryBench) -> None:
    job = live.enqueue("work", {"do": "it"}, key="k1", max_attempts=3)
    assert end_of(live, job) == "succeeded"
    assert live.job(job)["result_ref"] == "attempt 1 of 3, key k1"
    assert [each["outcome"] for each in live.attempts(job)] == ["done"]


def test_a_kind_of_a_module_that_no_job_of_the_plan_names_runs_too(live: CeleryBench) -> None:
    job = live.enqueue("ours.export", 7)
    assert end_of(live, job) == "succeeded"
    assert live.job(job)["result_ref"] == "exported 7"


def test_a_retry_comes_back_through_the_table_with_the_same_idempotency_key(live: CeleryBench) -> None:
    job = live.enqueue("work", {"do": "later"})
    assert end_of(live, job) == "succeeded"
    assert [(each["number"], each["outcome"]) for each in live.attempts(job)] == [(1, "retry"), (2, "done")]
    keys = [line for line in live.lines("keys") if line.startswith(job.public_id)]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_a_dead_job_is_requeued_by_the_same_command(live: CeleryBench) -> None:
    job = live.enqueue("work", {"do": "never"})
    assert end_of(live, job) == "dead"
    assert live.job(job)["message"] == "no such customer"
    live.until(lambda: f"dead  kind=work  job={job.public_id}" in live.log(0))  # Celery's own format shows messages alone
    (live.folder / "repaired").touch()
    assert_runs(live, "dead", "requeue", "--kind", "work")
    assert end_of(live, job, "succeeded") == "succeeded"


def test_a_command_retries_by_its_exit_status_and_its_output_is_kept(live: CeleryBench) -> None:
    job = live.enqueue("command")
    assert end_of(live, job) == "succeeded"
    first, second = live.attempts(job)
    assert (first["exit_status"], second["exit_status"]) == (75, 0)
    assert f"attempt 2 of {job.public_id}" in second["output_tail"]


def test_a_program_gets_its_payload_and_gives_a_result(live: CeleryBench) -> None:
    job = live.enqueue("program", {"a": "ä"})
    assert end_of(live, job) == "succeeded"
    assert live.job(job)["result_ref"] == "made"
    assert '{"a":' in live.attempts(job)[0]["output_tail"]


def test_a_running_job_is_cancelled(live: CeleryBench) -> None:
    gate = live.gate("wait")
    job = live.enqueue("work", {"do": "wait"})
    gate.arrived()
    live.store.cancel(job.public_id, by="test")
    assert end_of(live, job) == "cancelled"


def test_a_job_beyond_its_time_is_ended_and_said_so(live: CeleryBench) -> None:
    job = live.enqueue("slow")
    assert end_of(live, job) == "dead"
    assert [each["outcome"] for each in live.attempts(job)] == ["timeout"]


def test_a_message_delivered_many_times_has_one_effect(live: CeleryBench) -> None:
    publisher = live.publisher()
    job = live.enqueue("once", {"message": "m1"})
    for _ in range(5):
        publisher.send("default", [Ready(job.public_id, "once", 100, 0)])
    assert end_of(live, job) == "succeeded"
    again = live.enqueue("once", {"message": "m1"})
    assert end_of(live, again) == "succeeded"
    live.until(lambda: publisher.waiting("default") == 0)
    assert live.rows("SELECT message FROM effects") == [("m1",)]
    assert len(live.attempts(job)) == 1


def test_messages_that_name_nothing_are_dropped_and_the_worker_goes_on(live: CeleryBench) -> None:
    publisher = live.publisher()
    for public_id in ("", "f" * 32, "' OR 1=1 --", "x" * 10_000):
        publisher.send("default", [Ready(public_id, "work", 100, 0)])
    job = live.enqueue("work", {"do": "it"})
    assert end_of(live, job) == "succeeded"
    live.until(lambda: publisher.waiting("default") == 0)


def test_a_message_for_an_unknown_task_ends_among_the_dead_letters_and_the_relay_says_so(live: CeleryBench) -> None:
    live.publisher().send("default", [Ready("f" * 32, "no-such-kind", 100, 0)])
    live.until(lambda: "the broker gave up a message for no job of ours: rejected" in live.log(1))
    assert "no-such-kind" in live.log(1)


def test_status_shows_the_processes_of_celery_as_workers_and_its_jobs_as_jobs(live: CeleryBench) -> None:
    live.until(lambda: live.rows("SELECT COUNT(*) FROM {workers}") == [(3,)])  # each is there before its first job
    job = live.enqueue("work", {"do": "it"})
    end_of(live, job)
    told = json.loads(assert_runs(live, "status", "--format", "json"))
    assert sorted(each["queues"] for each in told["workers"]) == [[], ["default"], ["default"]]  # the relay serves none
    assert told["queues"][0]["queue"] == "default"
    shown = json.loads(assert_runs(live, "jobs", "show", job.public_id, "--format", "json"))
    assert shown["state"] == "succeeded"


def assert_runs(bench: CeleryBench, *words: str) -> str:
    command = [sys.executable, "-m", "cron2queue", *words, "--database", bench.url]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=bench.folder)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
