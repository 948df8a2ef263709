"""What the broker gave up, as far as it can be read: whatever stands in such a message, nothing of it can hurt.

The broker's library reads the headers of a message before anybody sees it, and fails at some that other libraries write.
Such a message is taken a second time, without being read, so that it does not stand before all others for ever.
"""

import errno
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from amqp.exceptions import AMQPError, FrameSyntaxError

from cron2queue.redaction import redact
from cron2queue.runtime.celery.broker import TASK_PREFIX, Topology
from cron2queue.runtime.verbs.given_up import NOT_TOLD, UNREADABLE, Letter
from cron2queue.text import safe_text

MOST: Final = 100  # in one look
_MOST_BYTES: Final = 16_000_000  # of their bodies, after which a look ends
_OWN_BYTES: Final = 10_000  # a message of ours is far shorter
_READ: Final = 1_000  # characters of a foreign text
_KEPT: Final = 100
_PUBLIC_ID: Final = re.compile("[0-9a-f]{32}")


@dataclass(slots=True)
class DeadQueue:
    """The dead letters of a plan. `broken`: the channel cannot be used any more, except to acknowledge."""

    topology: Topology
    broken: bool = False
    _last_tag: int = 0
    _dropping: bool = False

    def look(self, channel: Any) -> list[Letter]:
        """The first letters; they stay the broker's until they are acknowledged. Raises what the broker raises."""
        letters: list[Letter] = []
        dropping, self._dropping = self._dropping, False
        self.broken, self._last_tag, size = False, 0, 0
        while len(letters) < MOST and size < _MOST_BYTES and not self.broken:
            try:
                message = channel.basic_get(queue=self.topology.dead_queue, no_ack=dropping)
            except Exception as trouble:
                if not _is_of_the_message(trouble):
                    raise
                self.broken, self._dropping = True, not dropping
                letters += [Letter("", "", "", UNREADABLE)] if dropping else []
                return letters
            if message is None:
                return letters
            self._last_tag = 0 if dropping else message.delivery_tag
            dropping = False
            size += len(message.body or "")
            letters.append(read(message, self.topology))
        return letters

    def acknowledge(self, channel: Any) -> None:
        """Those of the last look are recorded."""
        if self._last_tag:
            channel.basic_ack(self._last_tag, multiple=True)


def _is_of_the_message(trouble: Exception) -> bool:
    """And not of the connection: the library could not make sense of a header (a time beyond the calendar, for one)."""
    if isinstance(trouble, OSError):
        return trouble.errno == errno.EOVERFLOW
    return not isinstance(trouble, AMQPError) or isinstance(trouble, FrameSyntaxError)


def read(message: Any, topology: Topology) -> Letter:
    """What a message of the broker's library says: the task, the job and the broker's own reason."""
    headers = message.headers if isinstance(message.headers, dict) else {}
    deaths = headers.get("x-death")
    death = deaths[0] if isinstance(deaths, list) and deaths and isinstance(deaths[0], dict) else {}
    task = _told(headers.get("task"))
    name = _told(death.get("queue"))
    return Letter(
        public_id=_public_id(message.body) if task.startswith(TASK_PREFIX) else "",
        kind=task.removeprefix(TASK_PREFIX),
        queue=next((queue for queue in topology.names if topology.name(queue) == name), ""),
        reason=_told(death.get("reason")) or NOT_TOLD,
    )


def _public_id(body: object) -> str:
    """That of a message of ours: its first argument."""
    if not isinstance(body, str | bytes) or len(body) > _OWN_BYTES:
        return ""
    with suppress(ValueError, RecursionError, LookupError, TypeError):
        named = json.loads(body)[0][0]
        if isinstance(named, str) and _PUBLIC_ID.fullmatch(named):
            return named
    return ""


def _told(value: object) -> str:
    """A foreign text, short, on one line and without secrets; empty for what is none."""
    text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    return safe_text(redact(text[:_READ]))[:_KEPT] if isinstance(text, str) else ""
