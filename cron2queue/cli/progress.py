"""A bar on stderr for what takes longer than a second, when somebody is there to see it."""

import sys
import time
from collections.abc import Callable
from typing import Self, TextIO

_PATIENCE = 1.0
_AGAIN = 0.1
_WIDTH = 30


class Bar:
    """Call it with how much is done and how much there is in all; it draws on a terminal only, and clears itself at the end.

    `unit` is what is counted, bytes if it is MB; `clock` gives seconds; a total of 0 is one that nobody knows.
    """

    def __init__(
        self, title: str, *, unit: str = "MB", stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = title
        self._unit = unit
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._next = clock() + _PATIENCE
        self._shown = False
        self._terminal = self._stream.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Something was done."""
        if not self._terminal or self._clock() < self._next:
            return
        self._next = self._clock() + _AGAIN
        self._shown = True
        self._write(f"\r\x1b[K{self._title} {self._drawn(done, total)}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the line as it was."""
        if self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    def _drawn(self, done: int, total: int) -> str:
        scale = 1e6 if self._unit == "MB" else 1
        if total <= 0:
            return f"{done / scale:,.0f} {self._unit}"
        share = min(1.0, done / total)
        return f"[{'#' * round(share * _WIDTH):{_WIDTH}}] {share:4.0%} of {total / scale:,.0f} {self._unit}"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._terminal = False
