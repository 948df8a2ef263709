"""Where the broker is: an address from the environment, since it holds a password, checked before anything is built on it."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from cron2queue.errors import UsageError

BROKER_VARIABLE: Final = "CRON2QUEUE_BROKER_URL"
DEFAULT_BROKER: Final = "amqp://guest:guest@127.0.0.1:5672//"
_REDIS: Final = frozenset({"redis", "rediss", "sentinel"})
_RABBITMQ: Final = frozenset({"amqp", "amqps", "pyamqp"})


def broker_url(environment: Mapping[str, str]) -> str:
    """The broker's address, or several of one kind, parted by `;`. Raises UsageError for what cannot be used."""
    url = environment.get(BROKER_VARIABLE) or DEFAULT_BROKER
    kinds = {_is_redis(each) for each in addresses(url)}
    if len(kinds) > 1:
        raise UsageError(f"{BROKER_VARIABLE} names RabbitMQ and Redis", remedy="name brokers of one kind")
    return url


def addresses(url: str) -> list[str]:
    """The addresses that are tried one after the other."""
    return url.split(";")


def is_redis(url: str) -> bool:
    """Whether this broker is Redis, which promises less."""
    return _is_redis(addresses(url)[0])


def _is_redis(address: str) -> bool:
    """Raises UsageError, which shows nothing of an address that cannot be read: what breaks it is mostly a password."""
    from kombu import Connection

    try:
        scheme = urlsplit(address).scheme.partition("+")[0]
        if scheme in _REDIS | _RABBITMQ:
            Connection(address)
    except (ValueError, KeyError, TypeError):  # of the port, of an option that is not known, of an option's value
        raise UsageError(
            f"{BROKER_VARIABLE} cannot be read as an address",
            remedy="write it like amqp://USER:PASSWORD@HOST:5672/VHOST, with %2F for a slash in the password",
        ) from None
    if scheme not in _REDIS | _RABBITMQ:
        raise UsageError(f"{scheme or 'this'}:// is no broker that is known here", remedy="use amqp:// (RabbitMQ) or redis://")
    return scheme in _REDIS
