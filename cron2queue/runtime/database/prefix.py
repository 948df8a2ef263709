"""The prefix of the tables' names."""

import re
from typing import Final

from cron2queue.runtime.trouble import JobRefused

PREFIX: Final = "c2q_"
_PREFIX = re.compile(r"[a-z_][a-z0-9_]{0,30}")


def checked_prefix(prefix: str) -> str:
    """The prefix, if it may stand in an identifier as it is. Longer ones collide: PostgreSQL cuts names at 63 bytes."""
    if not _PREFIX.fullmatch(prefix):
        raise JobRefused(
            f"the table prefix {prefix!r} is not of the form [a-z_][a-z0-9_]{{0,30}}",
            remedy="Choose a prefix of at most 31 small ASCII letters, digits and underscores.",
        )
    return prefix
