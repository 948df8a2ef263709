"""A workbench whose jobs are run by real Celery workers, with a real relay and a real broker."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field

from workbench import Workbench

from cron2queue.runtime.celery.address import BROKER_VARIABLE
from cron2queue.runtime.celery.application import application
from cron2queue.runtime.celery.broker import Topology
from cron2queue.runtime.celery.publishing import Publisher
from cron2queue.runtime.settings import read_settings

LEASE_SECONDS = 1.5
APPLICATION = f"""
from pathlib import Path
from cron2queue.runtime.celery.application import application
app = application(Path(__file__).resolve().parent / "cron2queue.toml", lease={LEASE_SECONDS})
"""


class Clock:
    """A clock for a relay: it stands until a test sets it."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class CeleryBench(Workbench):
    """`plan` writes the plan, `work` starts a Celery worker, `relay` a relay."""

    broker: str = ""
    project: str = "t"
    opened: list[Publisher] = field(default_factory=list)

    def plan(self, jobs: str, *, handlers: str = "") -> None:
        """The plan and the application beside it; `handlers` is a module with more kinds."""
        modules = f'handlers = ["{handlers}"]\n' if handlers else ""
        self.write("cron2queue.toml", f'[project]\nname = "{self.project}"\n{modules}\n{jobs}')
        self.write("celery_app.py", APPLICATION)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, BROKER_VARIABLE: self.broker, "CRON2QUEUE_DATABASE_URL": self.url}

    def _start(self, *words: str) -> "subprocess.Popen[str]":
        log = (self.folder / f"worker{len(self.workers)}.log").open("w")
        command = [sys.executable, "-P", "-m", *words]
        started = subprocess.Popen(
            command, cwd=self.folder, stdout=log, stderr=log, text=True, start_new_session=True, env=self.environment
        )
        log.close()
        self.workers.append(started)
        return started

    def work(self, processes: int = 1) -> "subprocess.Popen[str]":
        """A Celery worker of the queue `default`, as the generated unit starts it."""
        words = ("celery", "-A", "celery_app", "worker", "--pool", "prefork", "--queues", f"c2q.{self.project}.default")
        options = ("--concurrency", str(processes), "--hostname", f"w{len(self.workers)}@%h")
        return self._start(*words, *options, "--without-gossip", "--without-mingle", "--loglevel", "INFO")

    def relay(self, *arguments: str) -> "subprocess.Popen[str]":
        """A relay that looks often, and sends anew after a second."""
        return self._start(
            "cron2queue.runtime", "relay", "--poll", "0.05", "--again", "1", "--lease", str(LEASE_SECONDS), *arguments
        )

    def publisher(self) -> Publisher:
        """A publisher of the test's own."""
        plan = self.folder / "cron2queue.toml"
        app = application(plan, environment=self.environment)
        self.opened.append(Publisher(app, Topology.of(read_settings(plan))))
        return self.opened[-1]

    @staticmethod
    def kill(process: "subprocess.Popen[str]") -> None:
        """SIGKILL for the whole session of a process: Celery's main process and its pool at the same moment."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def done(self, number: int) -> bool:
        """Whether so many jobs have succeeded, and nothing else is left."""
        return self.states() == {"succeeded": number}

    def close(self) -> None:
        for each in self.opened:
            each.reset()
        for process in self.workers:
            self.kill(process)
        super().close()
