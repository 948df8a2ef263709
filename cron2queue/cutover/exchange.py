"""A new file in the place of another, unless that one was changed by somebody else: compared and swapped in one.

renameat2(2) exchanges two names at once. What comes out is then what really stood there at that moment, so that it can be
looked at without a gap; when it is not the expected text, the two are exchanged back. Without that call (an old kernel or
file system) the text is compared right before a rename, and an edit in between would be lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress

_EXCHANGE = 2
_NOT_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})


def _exchanged(folder: int, one: str, other: str) -> bool:
    """Exchange two names; False where that cannot be done here. Raises OSError."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    if call(folder, os.fsencode(one), folder, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number))


def _content(folder: int, name: str) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder), "rb") as file:
        return file.read()


def put_in_place(folder: int, new: str, name: str, expected: bytes) -> bool:
    """Let the file `new` take the place of `name`, if that holds `expected`. False: it does not, and stands as it did.

    `new` is gone afterwards, with one exception: what a third hand has written while two names went back and forth lies
    under it, and is never deleted. Raises OSError.
    """
    data = _content(folder, new)
    try:
        if not _exchanged(folder, new, name):
            if _content(folder, name) != expected:
                return False
            os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
            return True
        if _content(folder, new) == expected:
            return True
        _exchanged(folder, new, name)
        if _content(folder, new) != data:
            new = ""
        return False
    finally:
        if new:
            with suppress(FileNotFoundError):
                os.unlink(new, dir_fd=folder)
