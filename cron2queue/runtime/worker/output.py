"""What a program printed, kept as head and tail: a flood of gigabytes costs no more than a line."""

from cron2queue.redaction import redact
from cron2queue.text import cut_bytes, safe_text, to_text

HEAD_BYTES = 4 * 1024
TAIL_BYTES = 12 * 1024
_EDGE = 256  # of one endless line so much is dropped at a cut, since a secret may have been cut there


class HeadAndTail:
    """Takes bytes without end and keeps the first and the last of them."""

    __slots__ = ("_head", "_head_bytes", "_tail", "_tail_bytes", "total")

    def __init__(self, *, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes; memory stays within head plus twice the tail."""
        self.total += len(data)
        missing = self._head_bytes - len(self._head)
        if missing > 0:
            self._head += data[:missing]
            data = data[missing:]
        if data:
            self._tail += data[-self._tail_bytes :]
            if len(self._tail) > 2 * self._tail_bytes:
                del self._tail[: -self._tail_bytes]

    def text(self) -> str:
        """What was kept, secrets masked before anything is cut, safe to show; empty when nothing was printed."""
        if not self.total:
            return ""
        tail = bytes(self._tail[-self._tail_bytes :])
        if len(self._head) + len(tail) == self.total:
            return _shown(bytes(self._head) + tail)
        head, tail = _whole_head(bytes(self._head)), _whole_tail(tail)
        left_out = self.total - len(head) - len(tail)
        return f"{_shown(head)}\n[... {left_out} bytes left out ...]\n{_shown(tail)}"


def _whole_head(data: bytes) -> bytes:
    """Without the last line, which may have been cut in the middle of a secret."""
    end = data.rfind(b"\n")
    return data[: end + 1] if end >= 0 else data[: max(0, len(data) - _EDGE)]


def _whole_tail(data: bytes) -> bytes:
    start = data.find(b"\n")
    return data[start + 1 :] if start >= 0 else data[_EDGE:]


def _shown(data: bytes) -> str:
    text = redact(to_text(data))
    return "\n".join(safe_text(line).replace("\\x09", "\t") for line in text.rstrip("\n").split("\n"))


def storable(text: str, limit: int) -> str:
    """A message or diagnostic as it may be stored: secrets masked, unsafe characters visible, cut by bytes."""
    if not text:
        return text
    return cut_bytes("\n".join(safe_text(line) for line in redact(text).split("\n")), limit)
