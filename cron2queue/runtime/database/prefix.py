"""The prefix of the tables' names."""

from __future__ import annotations

from cron2queue.runtime.trouble import JobRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

PREFIX: Final = "c2q_"
_BEGINNING = frozenset("abcdefghijklmnopqrstuvwxyz_")
_SIGNS = _BEGINNING | frozenset("0123456789")


def checked_prefix(prefix: str) -> str:
    """The prefix, if it may stand in an identifier as it is. Longer ones collide: PostgreSQL cuts names at 63 bytes."""
    if not (1 <= len(prefix) <= 31 and prefix[0] in _BEGINNING and _SIGNS.issuperset(prefix)):
        raise JobRefused(
            f"the table prefix {prefix!r} is not of the form [a-z_][a-z0-9_]{{0,30}}",
            remedy="choose a prefix of at most 31 small ASCII letters, digits and underscores",
        )
    return prefix
