"""Some of a file's time stamps, in order: enough to know in which year it begins, without reading all of it."""

import re
from typing import IO

from cron2queue.evidence.blocks import Limits, Tale, blocks
from cron2queue.evidence.inputs import LogFile, NotALog, compression_of, opened
from cron2queue.evidence.stamps import PRIORITY, STAMP

_LINE_HEAD = re.compile(rb"(?:^|\n)" + PRIORITY + rb"(" + STAMP + rb")[ \t]")
_LOOK = 8 << 10
_STEP = 1 << 20
_MOST = 2_000
_SMALL = 256 << 10


def sampled(file: LogFile) -> list[bytes | None]:
    """Stamps from the file's beginning, from along it, and from its end; empty where nothing can be read.

    None stands for a place of a plain file near which no line with a stamp begins.
    """
    if file.live:
        return []
    try:
        with opened(file) as raw:
            if compression_of(raw.read(8)) is None:
                return _along(raw, file.size)
    except (OSError, NotALog):
        return []
    return _of_compressed(file)


def _along(raw: IO[bytes], size: int) -> list[bytes | None]:
    step = max(_STEP, size // _MOST)
    found: list[bytes | None] = []
    for place in range(0, size, step):
        raw.seek(place)
        match = _LINE_HEAD.search(raw.read(_LOOK) if place else b"\n" + raw.read(_LOOK))
        found.append(match.group(1) if match is not None else None)
    raw.seek(max(0, size - 8 * _LOOK))
    found.extend(_LINE_HEAD.findall(raw.read(8 * _LOOK))[-1:])
    return found


def _of_compressed(file: LogFile) -> list[bytes | None]:
    found: list[bytes | None] = []
    for block in blocks(file, Tale(), Limits()):
        stamps = _LINE_HEAD.findall(block[:_LOOK])[:1] + _LINE_HEAD.findall(block[-_LOOK:])[-1:]
        found.extend(stamps)
        if file.size > _SMALL:
            break
    return found


def last_stamp(block: bytes) -> bytes | None:
    """The last stamp in a block."""
    stamps = _LINE_HEAD.findall(block[-8 * _LOOK :])
    return stamps[-1] if stamps else None
