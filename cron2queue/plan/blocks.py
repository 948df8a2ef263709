"""What a replaced entry looks like in a crontab: a dated marker, the old line as a comment, and what stands in its place.

A block can be found, checked and undone from the text alone, so that everything around it may be edited by hand:

    # cron2queue replaced the next line on 2026-12-01: order-export
    #*/5 * * * * www-data php /srv/shop/export.php
    */5 * * * * www-data flock -n ...

In shadow the old line stays alive, as it was or started through the recorder, and the new one stands beside it. A repaired
line is what everything after it builds on: a later conversion takes it for the crontab's own, and only rollback undoes it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date

from cron2queue.expressions import regex
from cron2queue.record import Record

_MARKER = regex(
    rb"# cron2queue (?P<what>replaced|repaired|switched off|shadows|records and shadows) the next line on "
    rb"(?P<on>\d{4}-\d\d-\d\d): (?P<name>[a-z0-9][a-z0-9_-]*)\n"
)
_LENGTHS = {"replaced": 2, "repaired": 2, "switched off": 1, "shadows": 2, "records and shadows": 3}
"""How many lines stand below the marker."""


class Block(Record):
    """One entry's replacement. `old` and `new` are physical lines with their line ends; `new` None: switched off.

    `shadow`: the old line stays alive, and the new one stands beside it. `recorded`: in its place, the old line with its
    command started through the recorder. `repaired`: `new` is the old line put right, and may be no entry.
    """

    name: str
    on: date
    old: bytes
    new: bytes | None
    shadow: bool = False
    recorded: bytes | None = None
    repaired: bool = False

    @property
    def _what(self) -> str:
        if self.repaired:
            return "repaired"
        if self.shadow:
            return "shadows" if self.recorded is None else "records and shadows"
        return "replaced" if self.new is not None else "switched off"

    @property
    def content(self) -> bytes:
        """The block as it stands in the crontab."""
        marker = f"# cron2queue {self._what} the next line on {self.on.isoformat()}: {self.name}\n".encode()
        kept = self.old if self._what == "shadows" else b"#" + self.old
        return marker + ended(kept) + (self.recorded or b"") + (self.new or b"")


def ended(line: bytes) -> bytes:
    """The line with a line break at its end."""
    return line if line.endswith(b"\n") else line + b"\n"


def physical_lines(text: bytes) -> list[bytes]:
    """The lines with their line breaks; only LF breaks a line, as for every cron."""
    return text.split(b"\n") if not text else [line for line in re.split(rb"(?<=\n)", text) if line]


def _block_at(lines: list[bytes], start: int) -> tuple[Block, int] | None:
    marker = _MARKER.fullmatch(lines[start])
    if marker is None:
        return None
    what = marker["what"].decode()
    length = _LENGTHS[what]
    following = lines[start + 1 : start + 1 + length]
    if len(following) != length:
        return None
    first, *ours = following
    old = first if what == "shadows" else first[1:] if first.startswith(b"#") else None
    repaired = what == "repaired"
    # A repaired line that was replaced in its turn is the old line of that block, and its own marker a plain comment.
    fitting = not any(map(_MARKER.fullmatch, ours)) if repaired else all(map(_is_entry, ours))
    if old is None or not _was_live(old) or not fitting:
        return None
    try:
        on = date.fromisoformat(marker["on"].decode())
    except ValueError:
        return None
    block = Block(
        name=marker["name"].decode(),
        on=on,
        old=old,
        new=ours[-1] if ours else None,
        shadow=what.endswith("shadows"),
        recorded=ours[0] if len(ours) > 1 else None,
        repaired=repaired,
    )
    return block, start + 1 + length


def _was_live(line: bytes) -> bool:
    """Whether cron read more in a line than a comment or nothing: a carriage return alone is something."""
    return bool(line.strip(b" \t\n")) and not line.lstrip(b" \t").startswith(b"#")


def _is_entry(line: bytes) -> bool:
    """Whether a line is a live one; what a hand has commented out or emptied is no longer ours to undo."""
    return bool(line.strip()) and not line.lstrip().startswith(b"#")


class Piece(Record):
    """A stretch of a crontab: one physical line as it is, or a block."""

    content: bytes
    block: Block | None = None


def pieces(text: bytes) -> Iterator[Piece]:
    """The whole text, cut into blocks and other lines; joined together, the pieces are the text again."""
    lines = physical_lines(text)
    at = 0
    while at < len(lines):
        found = _block_at(lines, at)
        if found is None:
            yield Piece(content=lines[at])
            at += 1
        else:
            block, end = found
            yield Piece(content=b"".join(lines[at:end]), block=block)
            at = end


def restored(text: bytes, repairs: Collection[bytes] = ()) -> bytes:
    """The crontab without any replacement: each block gives way to the line that it replaced.

    A repaired line stays, unless its block is one of `repairs`.
    """
    return b"".join(_undone(piece, repairs) for piece in pieces(text))


def _undone(piece: Piece, repairs: Collection[bytes]) -> bytes:
    return piece.block.old if piece.block and _gives_way(piece, repairs) else piece.content


def _gives_way(piece: Piece, repairs: Collection[bytes]) -> bool:
    return piece.block is not None and (not piece.block.repaired or piece.content in repairs)


def found_blocks(text: bytes) -> list[Block]:
    """The blocks that stand in a crontab, in their order."""
    return [piece.block for piece in pieces(text) if piece.block]


def numbered_blocks(text: bytes, repairs: Collection[bytes] = ()) -> list[tuple[int, Block]]:
    """The blocks with the numbers of their lines in the crontab without any block, but for repairs that stay."""
    found, number = [], 1
    for piece in pieces(text):
        gives_way = _gives_way(piece, repairs)
        if piece.block and gives_way:
            found.append((number, piece.block))
        number += 1 if gives_way else piece.content.count(b"\n")
    return found


def replaced(original: bytes, blocks: Iterable[tuple[int, Block]]) -> bytes:
    """The crontab with blocks in the place of lines; each block comes with the number (from 1) of its line."""
    by_line = dict(blocks)
    lines = physical_lines(original)
    return b"".join(by_line[number].content if number in by_line else line for number, line in enumerate(lines, start=1))
