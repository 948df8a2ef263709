"""Redis as Celery's transport: it works, and promises less than RabbitMQ; what that means is checked, not hoped for.

A message that Redis loses costs time only, since its row stays ready and the relay sends it anew. A restart without
persistence loses all messages at once, and a visibility timeout below the longest job hands messages out twice.
"""

from typing import Any, Final

from cron2queue.errors import UsageError
from cron2queue.runtime.celery.broker import visibility_timeout
from cron2queue.runtime.settings import Settings

_RABBITMQ: Final = "use RabbitMQ (amqp://)"


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


def check_server(url: str, settings: Settings) -> None:
    """Raise RedisIsUnsafe when this server would drop or forget messages by its own configuration."""
    from redis import Redis
    from redis.exceptions import RedisError

    refuse_what_must_not_be_lost(settings)
    try:
        with Redis.from_url(url) as server:
            found = {**server.config_get("maxmemory-policy"), **server.config_get("appendonly"), **server.config_get("save")}
    except RedisError as trouble:
        raise RedisIsUnsafe(f"Redis does not say how it is configured: {trouble}", remedy=_RABBITMQ) from None
    faults = unsafe(found)
    if faults:
        raise RedisIsUnsafe("; ".join(faults), remedy=f"change redis.conf, or {_RABBITMQ}")


def unsafe(found: dict[str, str]) -> list[str]:
    """What is wrong with a configuration, as CONFIG GET tells it."""
    faults = []
    if found.get("maxmemory-policy", "noeviction") != "noeviction":
        faults.append(f"maxmemory-policy is {found['maxmemory-policy']}: Redis would evict messages; set noeviction")
    if found.get("appendonly") != "yes":
        kept = "only snapshots are kept" if found.get("save") else "nothing is kept"
        faults.append(f"appendonly is off: {kept} over a restart; set appendonly yes")
    return faults
