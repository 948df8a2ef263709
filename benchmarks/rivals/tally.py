"""Counts the calls of a peer's handler, in however many processes, and when the first and the last of them came."""

import os
import threading
import time
from pathlib import Path

LOOK = 0.02  # seconds between two words of each process


class Tally:
    """A thread writes `count first last` (CLOCK_MONOTONIC, the same for all processes) into a file for this process."""

    def __init__(self) -> None:
        self.count, self.first, self.last, self.owner = 0, 0.0, 0.0, 0

    def add(self) -> None:
        """One call."""
        self.last = time.monotonic()
        if self.owner != os.getpid():  # also after the fork of a pool
            self.owner, self.count, self.first = os.getpid(), 0, self.last
            threading.Thread(target=self._write, daemon=True).start()
        self.count += 1

    def _write(self) -> None:
        new = Path(f"tally.{os.getpid()}.new")
        while True:
            new.write_text(f"{self.count} {self.first} {self.last}")
            new.rename(new.with_suffix(".calls"))
            time.sleep(LOOK)


def told(folder: Path) -> tuple[int, float]:
    """How many calls there were, and the seconds from the first to the last."""
    lines = [each.read_text().split() for each in folder.glob("tally.*.calls")]
    if not lines:
        return 0, 0.0
    first, last = min(float(line[1]) for line in lines), max(float(line[2]) for line in lines)
    return sum(int(line[0]) for line in lines), last - first
