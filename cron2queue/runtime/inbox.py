"""The inbox: which messages a consumer has processed, written in the same transaction as the effect."""

from cron2queue.runtime.database.exact import to_bytes
from cron2queue.runtime.trouble import JobRefused

CONSUMER_BYTES = 128
MESSAGE_BYTES = 1024


def checked(consumer: str, message_id: str) -> tuple[bytes, bytes]:
    """The row of a message, if it fits: a cut id would swallow another message."""
    name, message = to_bytes(consumer), to_bytes(message_id)
    if not name or len(name) > CONSUMER_BYTES:
        raise JobRefused(
            f"the consumer's name has {len(name)} bytes", remedy=f"use from 1 to {CONSUMER_BYTES} bytes, e.g. the kind"
        )
    if not message or len(message) > MESSAGE_BYTES:
        raise JobRefused(f"the message id has {len(message)} bytes", remedy=f"use from 1 to {MESSAGE_BYTES} bytes, or a hash")
    return name, message
