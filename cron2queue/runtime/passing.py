"""Passes signals on to a child, also those that come before it has begun."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


@dataclass(slots=True)
class SignalPasser:
    """Installed before the child is started, attached right after: no signal falls between."""

    pid: int | None = None
    early: list[int] = field(default_factory=list)

    def install(self) -> "SignalPasser":
        """From now on signals are kept or passed on, and do not end this process."""
        for number in PASSED_ON:
            signal.signal(number, self._pass_on)
        return self

    def attach(self, pid: int) -> None:
        """The child is there; it gets what came before it."""
        self.pid = pid
        while self.early:
            self._send(self.early.pop(0))

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        if self.pid is None:
            self.early.append(number)
        else:
            self._send(number)

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid or 0, number)
