"""Whether the broker lets us in: a refused login is a mistake in the configuration, told in one sentence.

A broker that does not answer, or whose virtual host is not up yet, is none: it is waited for.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from amqp.exceptions import AccessRefused, AMQPError, NotAllowed
from celery import Celery
from kombu import Connection

from cron2queue.errors import UsageError
from cron2queue.redaction import redact
from cron2queue.runtime.celery.address import BROKER_VARIABLE, addresses, is_redis

_SECONDS: Final = 10
_LATER: Final = re.compile(r"\bis down\b")
_ABSENT: Final = re.compile(r"\bnot found\b")


class LoginRefused(UsageError):
    """The broker answers, and does not let this user do what is needed."""


def check(app: Celery) -> None:
    """Raise LoginRefused when the first broker that answers refuses; return when it accepts, or when none answers.

    Redis is asked for more than a login elsewhere.
    """
    url = app.conf.broker_url
    if is_redis(url):
        return
    for address in addresses(url):
        with suppress(OSError):
            _try(app, address)
            return


def _try(app: Celery, address: str) -> None:
    options = {"read_timeout": _SECONDS, "write_timeout": _SECONDS}
    connection = app.connection_for_read(url=address, heartbeat=0, connect_timeout=_SECONDS, transport_options=options)
    try:
        connection.connect()
    except (AccessRefused, NotAllowed) as trouble:
        if refusal := of(trouble, connection):
            raise refusal from None
    except AMQPError:
        return  # it answers, and something is not in order there: whoever connects next tells of it, and waits
    finally:
        with suppress(Exception):
            connection.release()


def of(trouble: BaseException, connection: Connection) -> LoginRefused | None:
    """What a broker's refusal means, with its address and without the password; None for what may pass by itself."""
    if not isinstance(trouble, AccessRefused | NotAllowed):
        return None
    said = str(getattr(trouble, "reply_text", "") or trouble)
    if _LATER.search(said):
        return None
    what, remedy = next(_told(said, connection))
    return LoginRefused(f"{redact(connection.as_uri())} {what}", remedy=remedy)


def _told(said: str, connection: Connection) -> Iterator[tuple[str, str]]:
    vhost, user = connection.virtual_host or "/", connection.userid or "guest"
    if _ABSENT.search(said):
        yield f"has no virtual host {vhost!r}", f"name another in {BROKER_VARIABLE}, or: rabbitmqctl add_vhost {vhost}"
    if "Login was refused" in said or "login refused" in said.lower():
        yield "refuses the login", f"correct user and password in {BROKER_VARIABLE}; rabbitmqctl authenticate_user {user} asks"
    permit = f"rabbitmqctl set_permissions -p {vhost} {user} '.*' '.*' '.*'"
    yield f"does not let this user in: {redact(said)}", f"use another user in {BROKER_VARIABLE}, or: {permit}"
