"""The broker's address: what cannot be used is told in a sentence that shows nothing of it."""

import pytest

from cron2queue.errors import UsageError
from cron2queue.runtime.celery.address import BROKER_VARIABLE, DEFAULT_BROKER, broker_url, is_redis


def url_of(text: str) -> str:
    return broker_url({BROKER_VARIABLE: text})


@pytest.mark.parametrize(
    "text", ["amqp://u:p@h:5672/v", "amqps://h//?ssl_cert_reqs=required", "pyamqp://h//", "amqp://a//;amqp://b//"]
)
def test_addresses_of_rabbitmq_are_taken_as_they_are(text: str) -> None:
    assert url_of(text) == text
    assert not is_redis(text)


@pytest.mark.parametrize(
    "text", ["redis://h/0", "rediss://h/0", "redis+socket:///run/redis.sock", "sentinel://a:1;sentinel://b:1"]
)
def test_addresses_of_redis_are_known_as_such(text: str) -> None:
    assert url_of(text) == text
    assert is_redis(text)


@pytest.mark.parametrize(
    "text",
    [
        "amqp://u:SECRET@h:port//",
        "amqp://u:SEC/RET@h//",
        "amqp://u:SECRET@[::1//",
        "amqp://u:SECRET@h//?unheard=of",
        "amqp://u:SECRET@h//?heartbeat=often",
        "rediss://:SECRET@h/0?ssl_cert_reqs=perhaps",
        "amqp://a//;amqp://u:SECRET@h:port//",
    ],
)
def test_an_address_that_cannot_be_read_is_not_shown(text: str) -> None:
    with pytest.raises(UsageError, match=f"{BROKER_VARIABLE} cannot be read") as trouble:
        url_of(text)
    assert "SEC" not in str(trouble.value)


@pytest.mark.parametrize("text", ["sqs://x", "http://h", "memory://", "nonsense", " "])
def test_brokers_that_are_neither_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no broker"):
        url_of(text)


def test_brokers_of_two_kinds_do_not_stand_in_for_each_other() -> None:
    with pytest.raises(UsageError, match="RabbitMQ and Redis"):
        url_of("amqp://h//;redis://h/0")


def test_without_an_address_the_broker_of_this_host_is_meant() -> None:
    assert broker_url({}) == broker_url({BROKER_VARIABLE: ""}) == DEFAULT_BROKER
