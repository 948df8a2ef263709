"""A worker from its start to its end, with real processes."""

import signal
import subprocess
import sys

import pytest
from workbench import Workbench

from cron2queue.runtime.worker.supervisor import nothing_to_serve


def test_a_worker_drains_its_queue_with_two_children(bench: Workbench) -> None:
    bench.python("noop")
    bench.handlers('@handler("noop")\ndef noop(job): note("pids", os.getpid()); note("keys", job.key)\n')
    for number in range(60):
        bench.enqueue("noop", key=str(number))
    assert bench.drain("--queue", "default:2", "--children", "2") == 0
    assert bench.states() == {"succeeded": 60}
    assert sorted(map(int, bench.lines("keys"))) == list(range(60))
    assert len(set(bench.lines("pids"))) == 2


def test_a_failure_is_tried_again_after_a_growing_gap_and_then_dead(bench: Workbench) -> None:
    bench.python("fails", retry=[0.05, 0.2])
    bench.handlers('@handler("fails")\ndef fails(job): raise ValueError(f"run {job.attempt}")\n')
    job = bench.enqueue("fails", max_attempts=3)
    assert bench.drain() == 0
    attempts = bench.attempts(job)
    assert bench.job(job)["state"] == "dead"
    assert [(each["number"], each["outcome"]) for each in attempts] == [(1, "failed"), (2, "failed"), (3, "failed")]
    assert "ValueError: run 3" in attempts[2]["diagnostic"]
    assert attempts[2]["message"] == "the handler failed"


def test_a_term_lets_running_jobs_finish_and_leaves_the_rest(bench: Workbench) -> None:
    bench.python("slow")
    gate = bench.gate("slow")
    bench.handlers('@handler("slow")\ndef slow(job): arrive("slow"); wait("slow")\n')
    first, second = bench.enqueue("slow"), bench.enqueue("slow")
    worker = bench.start()
    gate.arrived()
    worker.send_signal(signal.SIGTERM)
    gate.open()
    assert worker.wait(60) == 0
    assert bench.job(first)["state"] == "succeeded"
    assert (bench.job(second)["state"], bench.job(second)["attempts"]) == ("ready", 0)
    assert bench.rows("SELECT token FROM {workers}") == []


def test_a_killed_worker_loses_no_job(bench: Workbench) -> None:
    bench.python("slow")
    gate = bench.gate("slow")
    bench.handlers(
        """
@handler("slow")
def slow(job):
    note("ran", job.key)
    if job.key == "0" and job.attempt == 1:
        arrive("slow")
        wait("slow")
"""
    )
    jobs = [bench.enqueue("slow", key=str(number)) for number in range(10)]
    victim = bench.start()  # with the usual lease: on a busy host a short one is lost before this process has killed it
    gate.arrived()
    victim.kill()
    victim.wait()
    assert bench.drain("--lease", "1.5") == 0
    assert bench.states() == {"succeeded": 10}
    assert (bench.job(jobs[0])["attempts"], bench.job(jobs[0])["crashes"]) == (2, 1)
    assert sorted(bench.lines("ran")) == sorted(["0", *(str(number) for number in range(10))])


def test_the_plans_limits_hold_for_all_workers_together_and_an_operators_word_stays(bench: Workbench) -> None:
    bench.handlers("""
@handler("work")
def work(job):
    note("running", "+")
    time.sleep(0.02)
    note("running", "-")
""")
    bench.write(
        "cron2queue.toml",
        '[queues.default]\nconcurrency = 1\ndepth-limit = 500\n[jobs.work]\nhandler = "handlers/work.py"\n',
    )
    for number in range(12):
        bench.enqueue("work", key=str(number))
    workers = [bench.start("--queue", "default:2", "--drain") for _ in range(2)]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    assert bench.lines("running") == ["+", "-"] * 12
    assert bench.rows("SELECT concurrency, depth_limit FROM {queues} WHERE name = 'default'") == [(1, 500)]
    bench.store.set_limit("queue", "default", by="operator", concurrency=3)
    assert bench.drain() == 0
    assert bench.rows("SELECT concurrency FROM {queues} WHERE name = 'default'") == [(3,)]


def test_what_a_worker_has_done_is_in_the_figures_when_it_ends(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): pass\n')
    for number in range(7):
        sqlite_bench.enqueue("work", key=str(number))
    sqlite_bench.drain()
    counted = sqlite_bench.rows("SELECT SUM(n) FROM {rollups} WHERE series = 'succeeded' AND kind = 'work' AND period = 0")
    assert counted == [(7,)]


def test_a_worker_says_what_is_wrong_and_ends_with_the_right_status(sqlite_bench: Workbench) -> None:
    sqlite_bench.write("cron2queue.toml", "[jobs.work]\ntimout = 3\n")
    assert sqlite_bench.drain() == 2
    assert "did you mean 'timeout'?" in sqlite_bench.log()
    sqlite_bench.write("cron2queue.toml", "")
    assert sqlite_bench.drain() == 2
    assert "no handler to work with" in sqlite_bench.log()
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): pass\n')
    assert sqlite_bench.drain("--database", "mysql+pymysql://root@127.0.0.1:1/none") == 69
    assert sqlite_bench.drain("--database", f"sqlite:///{sqlite_bench.folder}/other.db") == 4
    assert "migrate up" in sqlite_bench.log()
    assert sqlite_bench.drain("--queue", "default:many") == 2
    assert "Traceback" not in "".join(sqlite_bench.log(number) for number in range(len(sqlite_bench.workers)))


def test_a_plan_whose_jobs_are_all_another_users_is_told_apart_from_one_without_jobs() -> None:
    assert "no handler" in nothing_to_serve({}).message
    other = nothing_to_serve({"mails": "it is to run as www-data, and this worker runs as app"})
    assert other.message.endswith("mails: it is to run as www-data, and this worker runs as app")
    assert other.remedy == "start a worker as that user"


def test_a_worker_whose_standard_streams_are_closed_works_and_ends_well(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): print("said")\n')
    job = sqlite_bench.enqueue("work")
    command = [sys.executable, "-m", "cron2queue.runtime", "work", "--drain", "--database", sqlite_bench.url]
    ran = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *command], cwd=sqlite_bench.folder, timeout=60)
    assert ran.returncode == 0
    assert [each["output_tail"].strip() for each in sqlite_bench.attempts(job)] == ["said"]


@pytest.mark.parametrize("settings", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "C.UTF-8"}])
def test_no_text_that_a_handler_prints_fails_its_job_in_any_locale(sqlite_bench: Workbench, settings: dict[str, str]) -> None:
    sqlite_bench.python("work", retry="none")
    sqlite_bench.handlers('@handler("work")\ndef work(job): print("h\\xe9 \\u20ac \\udcff")\n')
    job = sqlite_bench.enqueue("work")
    assert sqlite_bench.start("--drain", environment=settings).wait(60) == 0
    assert [(each["outcome"], each["output_tail"].strip()) for each in sqlite_bench.attempts(job)] == [("done", "hé € \\udcff")]


def test_the_supervisor_loads_nothing_of_what_runs_jobs() -> None:
    parts = {f"cron2queue.runtime.worker.{name}" for name in ("attempt", "capture", "child", "context", "execution", "spawn")}
    code = f"import sys, cron2queue.runtime.worker.supervisor; print(sorted({parts!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
