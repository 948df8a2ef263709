"""SIGKILL for the worker, the relay and the broker: nothing is lost, and with the inbox every effect is there once."""

import pytest
from brokers import Node
from celery_bench import CeleryBench

from cron2queue.runtime.celery.publishing import Ready

PLAN = """
[queues.default]
concurrency = 2

[jobs.once]
handler = "handlers/work.py"
timeout = 60
retry = [0.1]
"""
HANDLERS = """
@handler("once")
def once(job):
    message = job.payload["message"]
    note("begun", message)
    if message == "hold" and job.attempt == 1:
        arrive("hold")
        wait("hold")
    with job.transaction() as connection:
        if job.once(message):
            connection.execute("INSERT INTO effects VALUES (?)", (message,))
"""
MANY = 40


@pytest.fixture
def plain(bench: CeleryBench) -> CeleryBench:
    bench.plan(PLAN)
    bench.handlers(HANDLERS)
    bench.store.sessions.unit(lambda session: session.run("CREATE TABLE effects (message TEXT)"))
    return bench


def enqueue_many(bench: CeleryBench) -> list[str]:
    names = [f"m{number:03}" for number in range(MANY)]
    for name in names:
        bench.enqueue("once", {"message": name}, key=name)
    return names


def effects(bench: CeleryBench) -> list[str]:
    return sorted(row[0] for row in bench.rows("SELECT message FROM effects"))


def wait_for(bench: CeleryBench, number: int) -> None:
    bench.until(lambda: len(effects(bench)) >= number)


def test_a_worker_killed_in_the_middle_of_a_job_leaves_it_to_another(plain: CeleryBench) -> None:
    gate = plain.gate("hold")
    job = plain.enqueue("once", {"message": "hold"})
    plain.relay()
    worker = plain.work()
    gate.arrived()
    plain.kill(worker)
    plain.work()
    plain.until(lambda: plain.done(1))
    assert effects(plain) == ["hold"]
    assert plain.job(job)["crashes"] == 1
    assert plain.lines("begun") == ["hold", "hold"]


def test_a_relay_and_then_a_worker_killed_among_many_jobs_lose_nothing(plain: CeleryBench) -> None:
    names = enqueue_many(plain)
    worker, relay = plain.work(2), plain.relay("--window", "8")
    wait_for(plain, 5)
    plain.kill(relay)
    plain.relay("--window", "8")
    wait_for(plain, 15)
    plain.kill(worker)
    plain.work(2)
    plain.until(lambda: plain.done(MANY))
    assert effects(plain) == names


def test_a_broker_killed_and_started_again_loses_nothing(plain: CeleryBench, node: Node) -> None:
    gate = plain.gate("hold")
    plain.work(2)
    relay = plain.relay("--window", "8")
    held = plain.enqueue("once", {"message": "hold"})
    gate.arrived()
    names = enqueue_many(plain)
    wait_for(plain, 5)
    node.kill()
    gate.open()  # a run that has begun goes on without its broker, and is settled in the table
    plain.until(lambda: plain.job(held)["state"] == "succeeded")
    late = plain.enqueue("once", {"message": "late"})  # accepted while the broker is away
    node.restart(f"c2q.{plain.project}.default")
    plain.work(2)  # Celery ends a worker that was about to consume a queue which had to be deleted; it is started again
    plain.until(lambda: plain.done(MANY + 2))
    assert effects(plain) == sorted(["hold", "late", *names])
    assert plain.job(late)["attempts"] == 1
    assert relay.poll() is None


def test_a_term_lets_jobs_finish_and_ends_well(plain: CeleryBench) -> None:
    gate = plain.gate("hold")
    job = plain.enqueue("once", {"message": "hold"})
    relay, worker = plain.relay(), plain.work()
    gate.arrived()
    worker.terminate()
    relay.terminate()
    gate.open()
    assert worker.wait(60) == 0
    assert relay.wait(60) == 0
    assert plain.job(job)["state"] == "succeeded"
    assert plain.rows("SELECT COUNT(*) FROM {workers}") == [(0,)]


def test_a_worker_whose_handlers_cannot_be_loaded_says_so_and_takes_no_job(plain: CeleryBench) -> None:
    plain.handlers("raise RuntimeError('no such module')")
    job = plain.enqueue("once", {"message": "m"})
    plain.publisher().send("default", [Ready(job.public_id, "once", 100, 0)])
    assert plain.work().wait(60) != 0
    assert "no such module" in plain.log()
    assert plain.states() == {"ready": 1}


def test_a_queue_that_its_operator_deletes_under_a_worker_is_declared_anew_and_filled(plain: CeleryBench, node: Node) -> None:
    worker, relay = plain.work(2), plain.relay()
    first = plain.enqueue("once", {"message": "first"})
    plain.until(lambda: plain.job(first)["state"] == "succeeded")
    plain.store.pause("default", by="test")  # so that some ids are at the broker, or sent into nowhere
    names = enqueue_many(plain)
    node.control("delete_queue", f"c2q.{plain.project}.default")
    plain.store.resume("default", by="test")
    plain.until(lambda: plain.done(MANY + 1))
    assert effects(plain) == sorted(["first", *names])
    assert (worker.poll(), relay.poll()) == (None, None)
