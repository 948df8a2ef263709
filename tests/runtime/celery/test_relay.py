"""The relay on a real broker: what it sends, in which order, how much at a time, and when again."""

from typing import Any

import pytest
from brokers import Node
from celery_bench import CeleryBench, Clock

from cron2queue.errors import TryAgain
from cron2queue.runtime.celery.publishing import Publisher
from cron2queue.runtime.celery.relay import Relay, RelayOptions

PLAN = """
[queues.default]
concurrency = 4

[jobs.a]
handler = "command"
command = "true"
timeout = 60
retry = [0]

[jobs.b]
handler = "command"
command = "true"
timeout = 60
"""


def relay_of(bench: CeleryBench, clock: Clock, **options: Any) -> tuple[Relay, Publisher]:
    publisher = bench.publisher()
    wanted = RelayOptions(**{"kinds": {"default": ("a", "b")}, "again": 60.0, **options})
    return Relay(store=bench.store, broker=publisher, options=wanted, clock=clock), publisher


def taken(publisher: Publisher) -> list[str]:
    """Take every message off the queue; the ids in their order."""
    publisher.waiting("default")
    queue = publisher.topology.queue("default")(publisher._channel)
    ids = []
    while (message := queue.get(no_ack=True)) is not None:
        ids.append(message.payload[0][0])
    return ids


def test_the_best_priorities_are_sent_first_and_no_more_than_the_window(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned, Clock(), window=3)
    jobs = [planned.enqueue("a", priority=priority) for priority in (100, 100, 100, 100, 10)]
    assert relay.round() == 3
    assert taken(publisher) == [jobs[4].public_id, jobs[0].public_id, jobs[1].public_id]
    assert relay.round() == 0
    late = planned.enqueue("a", priority=1)
    assert relay.round() == 1
    assert taken(publisher) == [late.public_id]


def test_a_relay_killed_before_it_could_note_anything_sends_again_and_no_job_runs_twice(planned: CeleryBench) -> None:
    jobs = [planned.enqueue("a") for _ in range(5)]
    for _ in range(3):
        assert relay_of(planned, Clock())[0].round() == 5  # a new process each time: it knows nothing of the one before
    planned.work(2)
    planned.until(lambda: planned.done(5))
    publisher = planned.publisher()
    planned.until(lambda: publisher.waiting("default") == 0)
    assert [len(planned.attempts(job)) for job in jobs] == [1] * 5


def test_lost_messages_are_sent_again_after_a_while_and_only_these(planned: CeleryBench) -> None:
    clock = Clock()
    relay, publisher = relay_of(planned, clock)
    for _ in range(3):
        planned.enqueue("a")
    assert relay.round() == 3
    clock.now += 61
    assert relay.round() == 0  # they are there: nobody works
    assert len(taken(publisher)) == 3
    assert relay.round() == 3
    assert relay.round() == 0


def test_a_queue_that_was_deleted_is_declared_again_and_filled(planned: CeleryBench) -> None:
    clock = Clock()
    relay, publisher = relay_of(planned, clock)
    job = planned.enqueue("a")
    assert relay.round() == 1
    publisher.topology.queue("default")(publisher._channel).delete()
    clock.now += 61
    assert relay.round() == 1
    assert taken(publisher) == [job.public_id]


def test_a_job_that_became_ready_again_is_sent_at_once(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned, Clock())
    job = planned.enqueue("a")
    assert relay.round() == 1
    claimed = planned.store.claim_job(job.public_id, "default", kinds=["a"], worker="w")
    assert claimed is not None
    assert relay.round() == 0
    planned.store.release([claimed])
    assert relay.round() == 1
    assert taken(publisher) == [job.public_id] * 2


def test_nothing_of_a_paused_queue_is_sent_and_all_of_it_after_the_pause(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned, Clock())
    planned.enqueue("a")
    assert relay.round() == 1
    planned.store.pause("default", by="test")
    planned.enqueue("b")
    assert relay.round() == 0
    planned.store.resume("default", by="test")
    assert relay.round() == 2
    assert len(taken(publisher)) == 3


def test_kinds_that_nobody_knows_stay_in_the_table(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned, Clock())
    planned.enqueue("of-a-later-release")
    assert relay.round() == 0
    assert planned.states() == {"ready": 1}
    assert taken(publisher) == []


def test_once_sends_what_is_there_and_leaves(planned: CeleryBench) -> None:
    planned.enqueue("a")
    assert planned.relay("--once").wait(60) == 0
    assert len(taken(planned.publisher())) == 1


def test_jobs_of_a_dead_worker_come_back_also_when_no_worker_is_left(planned: CeleryBench) -> None:
    clock = Clock()
    relay, publisher = relay_of(planned, clock, lease=30.0)
    job = planned.enqueue("a")
    assert planned.store.claim_job(job.public_id, "default", kinds=["a"], worker="of a host that burnt down") is not None
    for _ in range(5):
        assert relay.round() == 0
        clock.now += 7
    relay.round()
    planned.until(lambda: relay.round() or planned.job(job)["crashes"] == 1)
    assert planned.job(job)["state"] == "ready"
    assert taken(publisher) == [job.public_id]


def test_what_the_broker_refuses_is_told_and_only_that_is_sent_again(planned: CeleryBench, node: Node) -> None:
    """A broker over a limit of its operator's answers with a nack."""
    relay, publisher = relay_of(planned, Clock())
    publisher.waiting("default")
    pattern = f"^c2q\\.{planned.project}\\.default$"
    limits = '{"max-length": 2, "overflow": "reject-publish"}'
    node.control("set_policy", "full", pattern, limits, "--apply-to", "queues")
    jobs = []
    with pytest.raises(TryAgain, match="refuses"):
        while True:  # a quorum queue tells its publishers of its limit a moment after it is reached
            jobs += [planned.enqueue("a").public_id for _ in range(3)]
            relay.round()
    held = len(relay.sent["default"])
    assert 2 <= held < len(jobs)
    assert publisher.waiting("default") == held
    node.control("clear_policy", "full")
    at_broker = taken(publisher)
    planned.until(lambda: relay_goes_on(relay))
    at_broker += taken(publisher)
    assert sorted(at_broker) == sorted(jobs)  # each once


def relay_goes_on(relay: Relay) -> bool:
    try:
        return relay.round() > 0
    except TryAgain:
        return False


def test_a_queue_with_plenty_at_the_broker_is_looked_at_less_often(planned: CeleryBench) -> None:
    relay, _ = relay_of(planned, Clock(), window=4)
    assert relay.round() == 0 and relay.is_ahead()
    planned.enqueue("a")
    assert relay.round() == 1 and not relay.is_ahead()
    planned.enqueue("a")
    assert relay.round() == 1 and relay.is_ahead()
