"""A RabbitMQ whose consumer timeout lies below a job: its message is taken back while it runs, and nothing more comes of it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import Node, free_port, need_rabbitmq
from celery_bench import CeleryBench
from kombu import Connection

PLAN = """
[jobs.long]
handler = "handlers/work.py"
timeout = 120
"""
HANDLERS = """
@handler("long")
def long(job):
    note("begun", str(job.attempt))
    arrive("long")
    wait("long")
"""


def server_version(node: Node) -> tuple[int, ...]:
    with Connection(node.url) as connection:
        return tuple(int(part) for part in str(connection.connection.server_properties["version"]).split(".")[:2])


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[CeleryBench]:
    need_rabbitmq()
    often = "-rabbit channel_tick_interval 1000"  # how often it looks for consumers that are late; a minute by default
    node = Node(folder=tmp_path / "rabbitmq", port=free_port(), settings="consumer_timeout = 1000\n", erlang=often)
    node.start()
    if server_version(node) >= (3, 12):
        node.kill()
        pytest.skip("this server heeds the queue's own timeout of eight days, above the one that is set for it here")
    bench = CeleryBench(tmp_path, f"sqlite:///{tmp_path / 'jobs.db'}", broker=node.url, project="t")
    yield bench
    bench.close()
    node.kill()


def test_a_message_that_is_taken_back_makes_no_second_run(impatient: CeleryBench) -> None:
    impatient.plan(PLAN)
    impatient.handlers(HANDLERS)
    gate = impatient.gate("long")
    job = impatient.enqueue("long")
    impatient.work(2)
    relay = impatient.relay()
    gate.arrived()
    impatient.until(lambda: "PRECONDITION_FAILED - delivery acknowledgement" in impatient.log(0))
    gate.open()
    impatient.until(lambda: impatient.done(1))
    impatient.work(2)  # Celery connects anew or ends the worker, as chance has it; what supervises it starts it again
    impatient.until(lambda: received(impatient) >= 2)  # the second message found a row that has ended, or is taken
    assert impatient.lines("begun") == ["1"]
    assert len(impatient.attempts(job)) == 1
    assert relay.poll() is None


def received(bench: CeleryBench) -> int:
    """How many messages the workers took."""
    return sum(len(re.findall(r"Task c2q\.long\S* received", bench.log(number))) for number in range(len(bench.workers)))
