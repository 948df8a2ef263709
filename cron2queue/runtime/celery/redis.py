"""Redis as Celery's transport: it works, and promises less than RabbitMQ; what that means is checked, not hoped for.

A message that Redis loses costs time only, since its row stays ready and the relay sends it anew. A restart without
persistence loses all messages at once, and a visibility timeout below the longest job hands messages out twice.
"""

from typing import Any, Final

from celery import Celery

from cron2queue.errors import UsageError
from cron2queue.runtime.celery.address import addresses, is_redis
from cron2queue.runtime.celery.broker import visibility_timeout
from cron2queue.runtime.settings import Settings

_RABBITMQ: Final = "use RabbitMQ (amqp://)"
_ASKED: Final = ("maxmemory-policy", "appendonly", "save")


class RedisIsUnsafe(UsageError):
    """A Redis, or Redis at all, cannot keep what the plan promises."""


def transport_options(settings: Settings) -> dict[str, Any]:
    """Kombu's options: nothing is handed out again while the longest job may still run."""
    return {"visibility_timeout": visibility_timeout(settings), "socket_keepalive": True, "health_check_interval": 30}


def refuse_what_must_not_be_lost(settings: Settings) -> None:
    """Raise RedisIsUnsafe for the first job that must not be lost."""
    for job in settings.jobs.values():
        if job.must_not_be_lost and job.decision in ("queue", "split"):
            raise RedisIsUnsafe(
                f"{job.name} must not be lost, and Redis confirms messages before they are on disk",
                remedy=f"{_RABBITMQ}, or set must-not-be-lost = false in [jobs.{job.name}] if a late run is good enough",
            )


def check_servers(app: Celery, settings: Settings) -> None:
    """Raise RedisIsUnsafe when the application's Redis would drop or forget messages; RabbitMQ passes."""
    url = app.conf.broker_url
    if not is_redis(url):
        return
    refuse_what_must_not_be_lost(settings)
    for each in addresses(url):
        if faults := unsafe(_configuration(app, each)):
            raise RedisIsUnsafe("; ".join(faults), remedy=f"change redis.conf, or {_RABBITMQ}")


def _configuration(app: Celery, address: str) -> dict[str, str]:
    """What the server says of itself, asked as Celery will reach it: by a sentinel, through a socket, under TLS."""
    from kombu.exceptions import KombuError
    from redis.exceptions import RedisError

    try:
        with app.connection_for_read(url=address) as connection:
            server = connection.channel().client
            return {name: value for key in _ASKED for name, value in server.config_get(key).items()}
    except (RedisError, KombuError, OSError, ValueError) as trouble:  # ValueError: an option that it cannot use
        raise RedisIsUnsafe(f"Redis does not say how it is configured: {trouble}", remedy=_RABBITMQ) from None


def unsafe(found: dict[str, str]) -> list[str]:
    """What is wrong with a configuration, as CONFIG GET tells it."""
    faults = []
    if found.get("maxmemory-policy", "noeviction") != "noeviction":
        faults.append(f"maxmemory-policy is {found['maxmemory-policy']}: Redis would evict messages; set noeviction")
    if found.get("appendonly") != "yes":
        kept = "only snapshots are kept" if found.get("save") else "nothing is kept"
        faults.append(f"appendonly is off: {kept} over a restart; set appendonly yes")
    return faults
