"""What a running job says about itself: progress, a result, a message.

A program writes JSON lines to fd 3: `{"phase": "rows", "progress": 0.4}`, `{"result": "exports/42.csv"}`,
`{"message": "..."}`. A Python handler calls the same tracker through its job.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field

MAX_LINE = 64 * 1024
MAX_RESULT = 1024
MAX_PHASE = 191

OnProgress = Callable[[float | None, str], None]


def _unheard() -> None:
    """Nobody has to know."""


@dataclass(slots=True, kw_only=True)
class Tracker:
    """Progress that never goes backwards: within a phase the fraction only grows, a new phase starts anew."""

    on_progress: OnProgress
    on_completed: Callable[[], None] = _unheard
    fraction: float | None = None
    phase: str = ""
    result: str | None = None
    message: str = ""

    def progress(self, phase: str = "", fraction: float | None = None) -> None:
        """Tell how far the job is; a fraction outside 0 to 1 is moved to the nearer end, none leaves it unknown."""
        phase = str(phase)[:MAX_PHASE]
        if fraction is not None:
            fraction = 0.0 if math.isnan(fraction) else min(1.0, max(0.0, float(fraction)))
        if phase == self.phase and self.fraction is not None:
            fraction = self.fraction if fraction is None else max(self.fraction, fraction)
        if (phase, fraction) != (self.phase, self.fraction):
            self.phase, self.fraction = phase, fraction
            self.on_progress(fraction, phase)

    def completed(self) -> None:
        """The job is completed in the table, whatever its handler does from now on."""
        self.on_completed()

    def take(self, line: bytes) -> bool:
        """Take one line of fd 3; False when it says nothing that is understood."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(said, dict):
            return False
        return self._take_fields(said)

    def _take_fields(self, said: dict[str, object]) -> bool:
        fraction, phase, result, message = (said.get(key) for key in ("progress", "phase", "result", "message"))
        understood = False
        if isinstance(result, str):
            self.result, understood = result[:MAX_RESULT], True
        if isinstance(message, str):
            self.message, understood = message, True
        is_number = isinstance(fraction, int | float) and not isinstance(fraction, bool)
        if is_number or isinstance(phase, str):
            same = phase if isinstance(phase, str) else self.phase
            self.progress(same, float(fraction) if is_number else None)  # type: ignore[arg-type]
            understood = True
        return understood


@dataclass(slots=True, kw_only=True)
class LineReader:
    """Cuts what comes over fd 3 into lines; a line that is too long is dropped whole, and memory stays bounded."""

    on_line: Callable[[bytes], object]
    _rest: bytearray = field(default_factory=bytearray)
    _too_long: bool = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes and hand on each line that is complete."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._end_line(line)
        self._rest += rest
        if len(self._rest) > MAX_LINE:
            self._rest.clear()
            self._too_long = True

    def _end_line(self, line: bytes) -> None:
        whole, self._rest = bytes(self._rest) + line, bytearray()
        dropped, self._too_long = self._too_long, False
        if whole.strip() and not dropped and len(whole) <= MAX_LINE:
            self.on_line(whole)

    def close(self) -> None:
        """The last line may lack its end."""
        self._end_line(b"")
