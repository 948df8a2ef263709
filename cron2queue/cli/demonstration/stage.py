"""The stage: runs real commands in the demonstration's folder, shows them, and refuses to go on when one misbehaves."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cron2queue.errors import Cron2QueueError

SLOWEST_STEP_SECONDS = 60


class DemonstrationFailed(Cron2QueueError):
    """A step of the demonstration did not hold: something is wrong with this installation or with cron2queue."""

    exit_status = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The folder, the width and the environment that every step is run with."""

    folder: Path
    width: int
    color: bool

    def environment(self) -> Mapping[str, str]:
        """What every command of the demonstration sees; the user's own CRON2QUEUE_ settings stay out."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CRON2QUEUE_")}
        return {**kept, "COLUMNS": str(self.width), "PYTHONUNBUFFERED": "1"}

    def heading(self, text: str) -> None:
        """A line that tells the reader where in the story we are."""
        print(f"\n\033[1m== {text}\033[0m" if self.color else f"\n== {text}", flush=True)

    def tell(self, text: str) -> None:
        """A sentence between two commands."""
        print(text, flush=True)

    def run(self, *words: str, expect: Sequence[int] = (0,), says: Sequence[str] = (), show: bool = True) -> str:
        """Run one `cron2queue` command; return its stdout. Raises when the status or the text is not as promised."""
        return self.shell([sys.executable, "-m", "cron2queue", *words], "cron2queue " + " ".join(words), expect, says, show)

    def shell(
        self, command: Sequence[str], shown: str, expect: Sequence[int] = (0,), says: Sequence[str] = (), show: bool = True
    ) -> str:
        """Run any command in the folder, as `run` does."""
        if show:
            print(f"\n$ {shown}", flush=True)
        ran = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=SLOWEST_STEP_SECONDS,
        )
        if show or ran.returncode not in expect:
            print(ran.stdout, end="", flush=True)
            print(ran.stderr, end="", file=sys.stderr, flush=True)
        self.require(ran.returncode in expect, f"`{shown}` ended with status {ran.returncode}, expected {expect}")
        for text in says:
            self.require(text in ran.stdout + ran.stderr, f"`{shown}` did not say {text!r}")
        return ran.stdout

    def require(self, holds: bool, otherwise: str) -> None:
        """Stop the demonstration, loudly, when a promise does not hold."""
        if not holds:
            remedy = f"look into {self.folder}; when you changed nothing there, report it as a bug"
            raise DemonstrationFailed(f"the demonstration failed: {otherwise}", remedy=remedy)
