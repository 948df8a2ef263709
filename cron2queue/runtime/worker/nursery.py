"""Where children come from: the supervisor's side of the template process."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cron2queue.errors import Cron2QueueError, UsageError
from cron2queue.runtime.handlers import HandlerOptions
from cron2queue.runtime.settings import Retry
from cron2queue.runtime.worker import proctree
from cron2queue.runtime.worker.options import WorkerOptions
from cron2queue.runtime.worker.slots import Slot, socket_pairs
from cron2queue.runtime.worker.wire import Channel, Inbox, Pulse, encoded, handed

_ANSWER_SECONDS = 60.0
_TRIES = 3


class TemplateFailed(Cron2QueueError):
    """The process that loads the handlers ended without an answer."""

    exit_status = 70


def options_from_wire(fields: dict[str, Any]) -> HandlerOptions:
    """The inverse of template.options_to_wire."""
    rule = fields["retry"]
    return HandlerOptions(**{**fields, "retry": tuple(rule) if isinstance(rule, list) else Retry(rule)})


@dataclass(slots=True)
class Nursery:
    """Starts the template, learns from it what kinds there are, and has children made."""

    options: WorkerOptions
    kinds: Mapping[str, HandlerOptions] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    _process: "subprocess.Popen[bytes] | None" = None
    _socket: socket.socket | None = None

    @property
    def pids(self) -> frozenset[int]:
        """The template's own pid: a child of this process that is no orphan."""
        return frozenset({self._process.pid}) if self._process is not None else frozenset()

    def start(self) -> None:
        """Load the handlers. Raises UsageError with the template's own words when they cannot be loaded."""
        for _ in range(_TRIES - 1):
            try:
                return self._start()
            except TemplateFailed:  # somebody has ended it: once more
                self.close()
        return self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        plan = str(self.options.plan) if self.options.plan is not None else ""
        command = [sys.executable, "-m", "cron2queue.runtime.worker.template", str(theirs.fileno()), plan]
        self._process = subprocess.Popen([*command, *self.options.modules], pass_fds=[theirs.fileno()])
        theirs.close()
        self._socket = ours
        answer = self._hear()
        if "error" in answer:
            self.close()
            raise UsageError(answer["error"], remedy=answer["remedy"], place=answer["place"])
        self.kinds = {each["kind"]: options_from_wire(each) for each in answer["kinds"]}
        self.skipped = answer["skipped"]

    def _hear(self) -> dict[str, Any]:
        assert self._socket is not None
        self._socket.settimeout(_ANSWER_SECONDS)
        inbox = Inbox()
        try:
            while data := self._socket.recv(65536):
                for message in inbox.feed(data):
                    answer: dict[str, Any] = message
                    return answer
        except OSError:
            pass
        raise TemplateFailed("the process that loads the handlers gave no answer", remedy="see its messages on stderr")

    def make(self, *, threads: int = 0) -> Slot:
        """A new child; with `threads`, one for jobs side by side."""
        try:
            return self._make(threads)
        except (TemplateFailed, OSError):
            self.close()
            self.start()
            return self._make(threads)

    def _make(self, threads: int) -> Slot:
        assert self._socket is not None
        (jobs, their_jobs), (control, their_control) = socket_pairs()
        page = Pulse.create()
        pulse = Pulse(page)
        try:
            socket.send_fds(self._socket, [encoded({"fork": 1})], [their_jobs.fileno(), their_control.fileno(), page])
        finally:
            their_jobs.close()
            their_control.close()
            os.close(page)
        pid = int(self._hear()["pid"])
        process = proctree.identity(pid) if pid else None
        if process is None:
            raise TemplateFailed("a new child ended before it began", remedy="see whether memory or processes have run out")
        slot = Slot(
            process=process,
            pidfd=os.pidfd_open(pid),
            jobs=Channel(jobs),
            control=Channel(control),
            pulse=pulse,
            threads=threads,
        )
        slot.jobs.send(handed({"threads": threads, "database": self.options.database, "prefix": self.options.prefix}))
        return slot

    def close(self) -> None:
        """Let the template go; it ends by itself when its socket is closed."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
