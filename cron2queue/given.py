"""The environment as it was given to this process, for the commands that it starts.

Python itself writes LC_CTYPE=C.UTF-8 into it where the locale is C, as it is under cron (PEP 538), and its children would
sort, match and quote otherwise than without us.
"""

import os
from contextlib import suppress
from pathlib import Path

_COERCED = b"LC_CTYPE"


def restore_environment() -> None:
    """Undo what Python did to it; where /proc does not tell how it was, it stays."""
    if _COERCED not in os.environb:
        return
    with suppress(OSError):
        given = Path("/proc/self/environ").read_bytes()
        before = dict(each.split(b"=", 1) for each in given.split(b"\0") if b"=" in each)
        if _COERCED in before:
            os.environb[_COERCED] = before[_COERCED]
        else:
            del os.environb[_COERCED]
