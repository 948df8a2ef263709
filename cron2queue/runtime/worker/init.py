"""A worker as PID 1 of a container: a small init that reaps and passes signals on, and the worker as its child."""

import os
import subprocess
import sys
from collections.abc import Sequence

from cron2queue.runtime.passing import SignalPasser


def is_init() -> bool:
    """Whether this process has to do what an init does."""
    return os.getpid() == 1


def run_as_init(command: Sequence[str]) -> int:
    """Run the command as a child until it ends, pass signals on, reap every orphan; its exit status."""
    passer = SignalPasser().install()
    child = subprocess.Popen(list(command))
    passer.attach(child.pid)
    return _reap_until(child.pid)


def _reap_until(main: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == main:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def own_command() -> list[str]:
    """How this process was started, to start it again as a child."""
    return [sys.executable, *sys.orig_argv[1:]]
