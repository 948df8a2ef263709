"""Keys as bytes: what an exact column holds. The same as cron2queue.text, without what only reports need."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def to_bytes(text: str) -> bytes:
    """UTF-8; lone surrogates that stand for bytes become those bytes."""
    return text.encode("utf-8", "surrogateescape")


def to_text(data: bytes) -> str:
    """The inverse of to_bytes."""
    return data.decode("utf-8", "surrogateescape")


def exact(text: str | None) -> bytes | None:
    """The bytes of an exact column."""
    return None if text is None else to_bytes(text)


def text_of(value: Any) -> str | None:
    """The text of an exact column, as a driver gives it."""
    return None if value is None else to_text(bytes(value))


def random_hex(count: int) -> str:
    """So many random bytes, as hexadecimal digits: public ids and tokens that nobody can guess."""
    return os.urandom(count).hex()


def digest(*parts: bytes) -> bytes:
    """SHA-256 of parts that hold no NUL before the last."""
    import hashlib  # a job without a key needs none

    return hashlib.sha256(b"\0".join(parts)).digest()
