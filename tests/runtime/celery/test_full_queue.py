"""More processes than a queue may run at one time: they wait, and no message of theirs is taken for one that failed."""

from celery_bench import APPLICATION, CeleryBench

PLAN = """
[queues.default]
concurrency = 1

[jobs.work]
handler = "handlers/work.py"
timeout = 60
"""
HANDLERS = """
@handler("work")
def work(job):
    note("ran", job.payload)
    if job.payload == "held":
        arrive("held")
        wait("held")
"""
IMPATIENT = "from cron2queue.runtime.celery import deliveries\ndeliveries.ADMISSION_SECONDS = 0.05\n"
ROUNDS = 25  # more than the delivery limit


def rounds(bench: CeleryBench) -> int:
    """How often a message was taken, the one of the job that runs left out."""
    return bench.log(0).count("received") - 1


def test_a_job_that_finds_no_room_goes_round_without_a_failed_delivery(bench: CeleryBench) -> None:
    bench.plan(PLAN)
    bench.write("celery_app.py", IMPATIENT + APPLICATION)
    bench.handlers(HANDLERS)
    gate = bench.gate("held")
    bench.work(2)
    bench.relay("--again", "3600")
    held = bench.enqueue("work", "held")
    gate.arrived()
    waiting = [bench.enqueue("work", name) for name in ("one", "two")]
    bench.until(lambda: rounds(bench) > ROUNDS * len(waiting))
    assert all(bench.job(job)["state"] == "ready" for job in waiting)
    gate.open()
    bench.until(lambda: bench.done(3))
    assert sorted(bench.lines("ran")) == ["held", "one", "two"]
    assert [len(bench.attempts(job)) for job in (held, *waiting)] == [1] * 3
    publisher = bench.publisher()
    bench.until(lambda: publisher.waiting("default") == 0)
    assert publisher._channel.basic_get(publisher.topology.dead_queue) is None
    assert bench.rows("SELECT COUNT(*) FROM {operations} WHERE verb = 'given-up'") == [(0,)]
    assert "Traceback" not in bench.log(0)


def test_a_worker_that_is_wider_than_its_queue_says_so(bench: CeleryBench) -> None:
    bench.plan(PLAN)
    bench.handlers(HANDLERS)
    bench.work(3)
    bench.until(lambda: "ready." in bench.log(0))
    assert f"3 processes, and c2q.{bench.project}.default may run 1 at one time" in bench.log(0)
    bench.work(1)
    bench.until(lambda: "ready." in bench.log(1))
    assert "at one time" not in bench.log(1)
