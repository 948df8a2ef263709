"""What the broker gives up, on a real one: recorded, acknowledged, sent again; foreign and hostile messages included."""

import json
from struct import pack
from typing import Any

import pytest
from amqp import Message
from brokers import Node
from celery_bench import CeleryBench, Clock

from cron2queue.runtime.celery.letters import MOST
from cron2queue.runtime.celery.publishing import Publisher
from cron2queue.runtime.celery.relay import Relay, RelayOptions
from cron2queue.runtime.jobs import Enqueued
from cron2queue.runtime.verbs import given_up
from cron2queue.runtime.verbs.given_up import MOST_LINES

PLAN = """
[jobs.a]
handler = "command"
command = "true"
timeout = 60
"""
SECRET = "mysql://shop:hunter2secret@db/shop"


def relay_of(bench: CeleryBench, clock: Clock | None = None) -> tuple[Relay, Publisher]:
    publisher = bench.publisher()
    options = RelayOptions(kinds={"default": ("a",)})
    return Relay(store=bench.store, broker=publisher, options=options, clock=clock or Clock(), name="relay@h"), publisher


def channel_of(publisher: Publisher) -> Any:
    publisher.waiting("default")
    return publisher._channel


def give_up(publisher: Publisher) -> None:
    """Fail at the first message of the queue until the broker gives it up: twenty times, and once more."""
    channel = channel_of(publisher)
    for _ in range(21):
        message = channel.basic_get(publisher.topology.name("default"))
        assert message is not None
        channel.basic_reject(message.delivery_tag, requeue=True)
    assert channel.basic_get(publisher.topology.name("default")) is None


def bury(publisher: Publisher, body: bytes = b"", **properties: Any) -> None:
    """Put a message into the dead letters, as anybody could who may write to the broker."""
    message = Message(body, application_headers=properties.pop("headers", {}), **properties)
    channel_of(publisher).basic_publish(message, publisher.topology.dead_exchange, publisher.topology.dead_queue)


def take(bench: CeleryBench, relay: Relay, publisher: Publisher, number: int) -> None:
    """Let the relay look until so many letters are recorded and none is left."""

    def done() -> bool:
        relay.dead_letters_at = 0.0
        relay.round()
        return sum(line["count"] for line in lines(bench)) >= number

    bench.until(done)
    assert channel_of(publisher).basic_get(publisher.topology.dead_queue) is None


def lines(bench: CeleryBench) -> list[dict[str, Any]]:
    query = "SELECT done_by, verb, target, job_id, detail FROM {operations} WHERE verb = 'given-up' ORDER BY id"
    names = ("by", "verb", "target", "job_id")
    return [dict(zip(names, row[:4], strict=True)) | json.loads(row[4]) for row in bench.rows(query)]


def taken(publisher: Publisher) -> list[str]:
    channel, ids = channel_of(publisher), []
    while (message := channel.basic_get(publisher.topology.name("default"), no_ack=True)) is not None:
        ids.append(json.loads(message.body)[0][0])
    return ids


def sent_and_given_up(bench: CeleryBench, relay: Relay, publisher: Publisher) -> Enqueued:
    job = bench.enqueue("a")
    assert relay.round() == 1
    give_up(publisher)
    return job


def test_a_message_over_the_delivery_limit_is_told_of_and_its_ready_job_is_sent_again(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned)
    job = sent_and_given_up(planned, relay, publisher)
    take(planned, relay, publisher, 1)
    (line,) = lines(planned)
    assert line.pop("minute").startswith("20")
    assert line == {
        "by": "relay@h", "verb": "given-up", "target": job.public_id, "job_id": job.id, "queue": "default", "kind": "a",
        "reason": "delivery_limit", "became": "goes out again", "count": 1,
    }  # fmt: skip
    relay.round()
    assert taken(publisher) == [job.public_id]


def test_what_has_become_of_the_job_is_told(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned)
    ended = sent_and_given_up(planned, relay, publisher)
    planned.store.cancel(ended.public_id, by="test")
    take(planned, relay, publisher, 1)
    runs = sent_and_given_up(planned, relay, publisher)
    assert planned.store.claim_job(runs.public_id, "default", kinds=["a"], worker="w") is not None
    take(planned, relay, publisher, 2)
    gone = sent_and_given_up(planned, relay, publisher)
    planned.store.sessions.unit(lambda session: session.run("DELETE FROM {jobs} WHERE id = ?", (gone.id,)))
    take(planned, relay, publisher, 3)
    assert [(line["job_id"], line["became"]) for line in lines(planned)] == [
        (ended.id, "had ended"),
        (runs.id, "running"),
        (0, "no job of ours"),
    ]
    assert taken(publisher) == []


def test_what_is_given_up_in_a_ring_is_one_line_and_waits_until_it_is_overdue(planned: CeleryBench) -> None:
    clock = Clock()
    relay, publisher = relay_of(planned, clock)
    job = sent_and_given_up(planned, relay, publisher)
    take(planned, relay, publisher, 1)
    for number in (2, 3):
        clock.now += 61 if number == 3 else 0
        relay.round()
        if taken_back := taken(publisher):
            assert taken_back == [job.public_id]
            planned.publisher().send("default", relay._ready("default", ["a"]))
            give_up(publisher)
            take(planned, relay, publisher, number)
    assert sum(line["count"] for line in lines(planned)) >= 2
    assert len(lines(planned)) <= 2  # the test may cross the end of a minute


class Killed(Exception):
    pass


@pytest.mark.parametrize("recorded", [False, True])
def test_a_kill_before_the_acknowledgement_costs_a_second_count_at_worst(planned: CeleryBench, recorded: bool) -> None:
    relay, publisher = relay_of(planned)
    sent_and_given_up(planned, relay, publisher)
    planned.until(lambda: channel_of(publisher).queue_declare(publisher.topology.dead_queue, passive=True).message_count)
    with pytest.raises(Killed), publisher.dead_letters() as letters:
        assert len(letters) == 1
        if recorded:
            planned.store.sessions.unit(lambda session: given_up.record(session, relay.name, letters))
        raise Killed
    take(planned, relay, publisher, 1 + recorded)
    assert sum(line["count"] for line in lines(planned)) == 1 + recorded


def test_foreign_garbage_in_a_workers_queue_ends_as_a_line(planned: CeleryBench) -> None:
    publisher = planned.publisher()
    planned.relay()
    planned.work()
    channel = channel_of(publisher)
    garbage = Message(b'{"not": "for us"}', content_type="application/json", content_encoding="utf-8")
    unknown = Message(
        json.dumps([[SECRET], {}, {}]).encode(),
        content_type="application/json",
        content_encoding="utf-8",
        application_headers={"task": f"c2q.\x1b[2J {SECRET}", "id": "1"},
    )
    for message in (garbage, unknown):
        channel.basic_publish(message, publisher.topology.base, publisher.topology.name("default"))
    planned.until(lambda: sum(line["count"] for line in lines(planned)) >= 2)
    for line in lines(planned):
        assert (line["target"], line["job_id"], line["reason"], line["became"]) == (
            "default",
            0,
            "rejected",
            "no job of ours",
        )
        assert "\x1b" not in json.dumps(line) and "hunter2" not in json.dumps(line)
    planned.until(
        lambda: (
            planned.rows(
                "SELECT kind, queue, SUM(n) FROM {rollups} WHERE period = 0 AND series LIKE 'given_up%' GROUP BY kind, queue"
            )
            == [("-", "default", 2)]
        )
    )


class Late(Message):
    """A message with a time in milliseconds, or worse, where the protocol has seconds: the broker's library fails at it."""

    def __init__(self, body: bytes, seconds: int) -> None:
        super().__init__(body)
        self.seconds = seconds

    def _serialize_properties(self) -> bytes:
        table = b"\x01aT" + pack(">Q", self.seconds)
        return pack(">H", 1 << 13) + pack(">I", len(table)) + table


def test_messages_that_want_to_hurt_are_lines_and_the_others_behind_them_are_taken(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned)
    job = sent_and_given_up(planned, relay, publisher)
    nested: dict[str, Any] = {}
    for _ in range(60):
        nested = {"x": nested}
    bury(publisher, b"x" * 15_000_000)
    bury(publisher, b"not deflated", headers={"compression": "zlib"}, content_type="application/x-python-serialize")
    bury(publisher, b"[" * 9_000, headers={"task": "c2q.a", "x-death": "none", "lang": nested})
    bury(publisher, json.dumps([[job.public_id]]).encode(), headers={"task": 5, "x-death": [{"reason": b"\xff" * 5_000}]})
    bury(publisher, content_encoding="no-such", headers={"task": SECRET * 50})
    for seconds in (1_700_000_000_000, 2**62, 1_700_000_000_000):
        late = Late(b"b" * 200_000, seconds)
        channel_of(publisher).basic_publish(late, publisher.topology.dead_exchange, publisher.topology.dead_queue)
    bury(publisher, headers={"task": "the last"})
    take(planned, relay, publisher, 10)
    found = lines(planned)
    assert sum(line["count"] for line in found) == 10
    assert [line["target"] for line in found if line["job_id"]] == [job.public_id]
    assert sum(line["count"] for line in found if line["reason"] == "unreadable") == 3
    assert "hunter2" not in json.dumps(found)
    assert max(len(json.dumps(line)) for line in found) < 1_000


def test_a_flood_of_foreign_messages_is_a_few_lines_and_the_rest_is_counted(planned: CeleryBench) -> None:
    relay, publisher = relay_of(planned)
    number = 3 * MOST + 7
    for each in range(number):
        bury(publisher, headers={"task": f"sort {each}"})
    take(planned, relay, publisher, number)
    found = lines(planned)
    assert sum(line["count"] for line in found) == number
    assert len(found) <= 2 * (MOST_LINES + 1)  # of one minute, or two
    assert sum(line["count"] for line in found if line["became"] == "others") >= number - 2 * MOST_LINES
    job = planned.enqueue("a")
    assert relay.round() == 1
    assert taken(publisher) == [job.public_id]


def test_a_dead_letter_queue_of_an_older_release_is_used_as_it_is(planned: CeleryBench, node: Node) -> None:
    relay, publisher = relay_of(planned)
    dead = publisher.topology.dead_letters()
    dead.queue_arguments = {"x-queue-type": "quorum"}
    with publisher.app.connection_for_write() as connection:
        dead(connection.channel()).declare()
    job = sent_and_given_up(planned, relay, publisher)
    take(planned, relay, publisher, 1)
    assert lines(planned)[0]["target"] == job.public_id


def test_a_dead_letter_queue_that_was_deleted_is_declared_again(planned: CeleryBench, node: Node) -> None:
    relay, publisher = relay_of(planned)
    relay.round()
    node.control("delete_queue", publisher.topology.dead_queue)
    relay.dead_letters_at = 0.0
    with pytest.raises(publisher.errors()):
        relay.round()
    publisher.reset()  # as the process does
    sent_and_given_up(planned, relay, publisher)
    take(planned, relay, publisher, 1)
