"""A worker from its start to its end, with real processes."""

import signal

from workbench import Workbench


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
    victim = bench.start("--lease", "1.5")
    gate.arrived()
    victim.kill()
    victim.wait()
    assert bench.drain("--lease", "1.5") == 0
    assert bench.states() == {"succeeded": 10}
    assert (bench.job(jobs[0])["attempts"], bench.job(jobs[0])["crashes"]) == (2, 1)
    assert sorted(bench.lines("ran")) == sorted(["0", *(str(number) for number in range(10))])
