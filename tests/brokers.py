"""A RabbitMQ of the test run's own: a node with its own port, name and folder, that tests may kill and start again.

Debian's package (rabbitmq-server) brings the program; C2Q_TEST_RABBITMQ names another. Where it is missing, tests skip at
home and fail where CI is set: silence is never taken for a pass.
"""

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAM = os.environ.get("C2Q_TEST_RABBITMQ", "/usr/lib/rabbitmq/bin/rabbitmq-server")
PATIENCE_SECONDS = 120.0


def need_rabbitmq() -> None:
    """Skip the test at home, fail it in CI, if there is no RabbitMQ here."""
    if os.access(PROGRAM, os.X_OK):
        return
    reason = f"no RabbitMQ at {PROGRAM}; .ci/servers installs it"
    if os.environ.get("CI"):
        pytest.fail(f"no server, and CI is set: {reason}", pytrace=False)
    pytest.skip(reason)


def free_port() -> int:
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        return int(end.getsockname()[1])


@dataclass
class Node:
    """One node. `start` waits until it answers."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "plugins").write_text("[].")
        (self.folder / "node.conf").write_text("consumer_timeout = 1800000\n")
        named = {
            "NODENAME": f"c2q{os.getpid()}@localhost",
            "NODE_PORT": str(self.port),
            "DIST_PORT": str(free_port()),  # else the other one and 20000 more, which may be above all ports
            "NODE_IP_ADDRESS": "127.0.0.1",
            "MNESIA_BASE": str(self.folder / "data"),
            "LOG_BASE": str(self.folder),
            "LOGS": "-",
            "CONF_ENV_FILE": "/dev/null",
            "CONFIG_FILE": str(self.folder / "node"),
            "ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "PID_FILE": str(self.folder / "pid"),
        }
        environment = {**os.environ, "HOME": str(self.folder), "ERL_EPMD_ADDRESS": "127.0.0.1"}
        environment |= {f"RABBITMQ_{name}": value for name, value in named.items()}
        environment["ERL_FLAGS"] = "-kernel inet_dist_use_interface {127,0,0,1}"
        with (self.folder / "node.log").open("ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM], stdout=log, stderr=log, env=environment, start_new_session=True, cwd=self.folder
            )
        try:
            self._wait(self.process)
        except BaseException:
            self.kill()
            raise

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        from kombu import Connection

        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(OSError), Connection(self.url, connect_timeout=2) as connection:
                connection.connect()
                return
            time.sleep(0.1)
        raise AssertionError(f"RabbitMQ did not start: {(self.folder / 'node.log').read_text()[-2000:]}")

    def kill(self) -> None:
        """SIGKILL, as a host that loses power; what was confirmed is on disk."""
        if self.process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None
