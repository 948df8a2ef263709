"""Redis as Celery's transport: it carries jobs, and is refused where it would break a promise."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from brokers import RedisNode, free_port, need_redis
from celery import Celery
from celery_bench import CeleryBench

from cron2queue.errors import UsageError
from cron2queue.runtime.celery import redis
from cron2queue.runtime.celery.address import BROKER_VARIABLE
from cron2queue.runtime.celery.application import application
from cron2queue.runtime.settings import Settings, settings_from

COMMAND = {"handler": "command", "command": "true", "timeout": 7000}
Start = Callable[..., RedisNode]


def settings_with(**job: object) -> Settings:
    return settings_from({"jobs": {"a": {**COMMAND, **job}}}, folder=Path())


def application_with(broker: str) -> Celery:
    return Celery(broker=broker, set_as_current=False)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Start]:
    need_redis()
    started = []

    def start(*settings: str) -> RedisNode:
        node = RedisNode(folder=tmp_path, port=free_port(), settings=settings)
        started.append(node)
        node.start()
        return node

    yield start
    for node in started:
        node.kill()


def test_the_visibility_timeout_stands_above_the_longest_job() -> None:
    assert redis.transport_options(settings_with())["visibility_timeout"] > 7010


def test_a_job_that_must_not_be_lost_refuses_redis_until_somebody_says_otherwise(tmp_path: Path) -> None:
    plan = tmp_path / "cron2queue.toml"
    plan.write_text('[jobs.a]\nhandler = "command"\ncommand = "true"\ntimeout = 60\nmust-not-be-lost = true\n')
    environment = {BROKER_VARIABLE: "redis://127.0.0.1:1/0"}
    with pytest.raises(UsageError, match="a must not be lost"):
        application(plan, environment=environment)
    application(plan, environment={BROKER_VARIABLE: "amqp://guest:guest@127.0.0.1:1//"})
    plan.write_text(plan.read_text().replace("true\n", "false\n"))
    application(plan, environment=environment)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("--appendonly", "no", "--save", ""), "nothing is kept"),
        (("--appendonly", "no", "--save", "60 1"), "only snapshots"),
        (("--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"), "evict"),
    ],
)
def test_a_server_that_would_forget_messages_is_refused(settings: tuple[str, ...], said: str, server: Start) -> None:
    node = server(*settings)
    with pytest.raises(redis.RedisIsUnsafe, match=said):
        redis.check_servers(application_with(node.url), settings_with())


@pytest.mark.parametrize(
    "address",
    [
        "redis://127.0.0.1:1/0",
        "rediss://127.0.0.1:1/0",
        "redis+socket:///nowhere.sock",
        "redis://127.0.0.1:1/no-number",
        "sentinel://h",
    ],
)
def test_a_server_that_cannot_be_asked_is_told_in_one_sentence(address: str) -> None:
    with pytest.raises(redis.RedisIsUnsafe, match="does not say"):
        redis.check_servers(application_with(address), settings_with())


def test_each_of_several_servers_is_asked(server: Start) -> None:
    node = server("--appendonly", "yes")
    redis.check_servers(application_with(node.url), settings_with())
    with pytest.raises(redis.RedisIsUnsafe, match="does not say"):
        redis.check_servers(application_with(f"{node.url};redis://127.0.0.1:1/0"), settings_with())


def test_jobs_run_over_redis_and_lost_messages_are_sent_again(server: Start, tmp_path: Path) -> None:
    from redis import Redis

    node = server("--appendonly", "yes")
    bench = CeleryBench(tmp_path, f"sqlite:///{tmp_path / 'jobs.db'}", broker=node.url, project="r")
    bench.plan('[jobs.a]\nhandler = "command"\ncommand = "true"\ntimeout = 60\n')
    try:
        for _ in range(3):
            bench.enqueue("a")
        bench.relay()
        publisher = bench.publisher()
        bench.until(lambda: publisher.waiting("default") == 3)
        with Redis.from_url(node.url) as raw:
            raw.flushall()
        bench.work()
        bench.until(lambda: bench.done(3))
    finally:
        bench.close()
