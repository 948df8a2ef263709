"""A plan, handlers, a database and real worker processes for tests, and gates at which handlers and tests meet."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cron2queue.runtime.jobs import Enqueued, NewJob
from cron2queue.runtime.store import Store

PATIENCE_SECONDS = 60.0

GATES = '''
import os, pathlib
HERE = pathlib.Path(__file__).parent

def arrive(name, text="here"):
    """Tell the test that this place is reached; waits until the test listens."""
    with open(HERE / f"{name}.arrived", "w") as gate:
        gate.write(text)

def wait(name):
    """Wait until the test lets it go on."""
    with open(HERE / f"{name}.go") as gate:
        gate.read()

def note(name, text="x"):
    """One line in a file, whole even when many write."""
    handle = os.open(HERE / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(handle, f"{text}\\n".encode())
    os.close(handle)
'''


class Gate:
    """A place in a handler: `arrived` waits for it, `open` lets it go on."""

    def __init__(self, folder: Path, name: str) -> None:
        self._arrived, self._go = folder / f"{name}.arrived", folder / f"{name}.go"
        os.mkfifo(self._arrived)
        os.mkfifo(self._go)

    def arrived(self) -> str:
        """What the handler says when it gets there."""
        with self._arrived.open() as gate:
            return gate.read()

    def open(self) -> None:
        """Let it go on."""
        with self._go.open("w") as gate:
            gate.write("go")


@dataclass
class Workbench:
    """One folder and one database."""

    folder: Path
    url: str
    workers: list["subprocess.Popen[str]"] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "gates.py").write_text(GATES)
        self.store = Store.open(self.url)
        self.store.migrate_up()

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        """A file beside the plan."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def python(self, kinds: str, **options: Any) -> None:
        """A plan whose kinds (blank-separated) are done by handlers/work.py; options are keys for each job."""
        lines = [f"{key.replace('_', '-')} = {json.dumps(value)}" for key, value in options.items()]
        jobs = [f'[jobs.{kind}]\nhandler = "handlers/work.py"\n' + "\n".join(lines) for kind in kinds.split()]
        self.write("cron2queue.toml", "\n".join(jobs))

    def handlers(self, text: str) -> None:
        """handlers/work.py, with the usual imports before the text."""
        head = "import os, sys, time\nfrom gates import arrive, note, wait\nfrom cron2queue.runtime.handlers import *\n"
        self.write("handlers/work.py", head + "from cron2queue.runtime.handlers import handler\n" + text)

    def gate(self, name: str) -> Gate:
        """A gate for handlers that say `arrive(name)` and `wait(name)`."""
        return Gate(self.folder, name)

    def enqueue(self, kind: str, payload: Any = None, **fields: Any) -> Enqueued:
        """One job."""
        return self.store.enqueue(NewJob(kind=kind, payload=payload, **fields))

    def start(self, *arguments: str, environment: dict[str, str] | None = None) -> "subprocess.Popen[str]":
        """A worker process in a session of its own."""
        command = [sys.executable, "-m", "cron2queue.runtime", "work", "--plan", "cron2queue.toml", "--database", self.url]
        log = (self.folder / f"worker{len(self.workers)}.log").open("w")
        worker = subprocess.Popen(
            [*command, *arguments],
            cwd=self.folder,
            stderr=log,
            stdout=log,
            text=True,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
        )
        log.close()
        self.workers.append(worker)
        return worker

    def drain(self, *arguments: str) -> int:
        """Work until nothing is left; the exit status."""
        return self.start("--drain", *arguments).wait(PATIENCE_SECONDS)

    def at_work(self, *workers: "subprocess.Popen[str]") -> None:
        """Wait until each stands in the table and beats: a fault that strikes sooner may end it in its start, by design."""
        pids = {worker.pid for worker in workers}
        self.until(lambda: pids <= {int(row[0]) for row in self.rows("SELECT pid FROM {workers} WHERE beat_counter > 0")})

    def stop(self, *workers: "subprocess.Popen[str]") -> None:
        """TERM for workers that are at work: each ends well, or the test shows what it said."""
        for worker in workers:
            worker.terminate()
        ends = {self.workers.index(worker): worker.wait(PATIENCE_SECONDS) for worker in workers}
        assert not any(ends.values()), [(status, self.log(number)) for number, status in ends.items() if status]

    def log(self, number: int = -1) -> str:
        """What a worker said."""
        number = number % len(self.workers)
        return (self.folder / f"worker{number}.log").read_text()

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A query in the store's own notation."""
        return self.store.sessions.read(lambda session: session.rows(query, parameters))

    def states(self) -> dict[str, int]:
        """How many jobs are in each state."""
        return {row[0]: int(row[1]) for row in self.rows("SELECT state, COUNT(*) FROM {jobs} GROUP BY state")}

    def job(self, enqueued: Enqueued) -> dict[str, Any]:
        """A job's row by names."""
        names = "state, attempts, crashes, message, result_ref, progress, phase, worker, lease"
        row = self.rows(f"SELECT {names} FROM {{jobs}} WHERE id = ?", (enqueued.id,))[0]
        return dict(zip(names.split(", "), row, strict=True))

    def attempts(self, enqueued: Enqueued) -> list[dict[str, Any]]:
        """A job's finished attempts, in order."""
        names = "run, number, outcome, exit_status, signal_number, message, diagnostic, output_tail, max_rss_bytes"
        rows = self.rows(f"SELECT {names} FROM {{attempts}} WHERE job_id = ? ORDER BY run", (enqueued.id,))
        return [dict(zip(names.split(", "), row, strict=True)) for row in rows]

    def until(self, what: Callable[[], Any]) -> Any:
        """Look again and again until it is so; what does not become so is a failure, not a race."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if found := what():
                return found
            time.sleep(0.02)
        raise AssertionError(f"it did not become so; the workers said: {[self.log(n) for n in range(len(self.workers))]}")

    def lines(self, name: str) -> list[str]:
        """What handlers noted in a file."""
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def close(self) -> None:
        """End what is left; a worker that a test has forgotten must not outlive it."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
        self.store.close()
