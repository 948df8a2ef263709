"""A RabbitMQ and a Redis of the test run's own: nodes with their own ports and folders, that tests may kill and start again.

Debian's packages bring the programs; C2Q_TEST_RABBITMQ names another. Where one is missing, its tests skip at home and fail
where CI is set: silence is never taken for a pass.
"""

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from presence import need_program

PROGRAM = os.environ.get("C2Q_TEST_RABBITMQ", "/usr/lib/rabbitmq/bin/rabbitmq-server")
PATIENCE_SECONDS = 120.0


def need_rabbitmq() -> None:
    """Skip the test at home, fail it in CI, if there is no RabbitMQ here."""
    need_program(PROGRAM)


def need_redis() -> None:
    """The same for Redis."""
    need_program("redis-server")


def free_port() -> int:
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        return int(end.getsockname()[1])


@dataclass
class Node:
    """One node. `start` waits until it answers. `settings` are lines of rabbitmq.conf, `erlang` words for its machine."""

    folder: Path
    port: int
    settings: str = "consumer_timeout = 1800000\n"
    erlang: str = ""
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def name(self) -> str:
        return f"c2q{os.getpid()}-{self.port}@localhost"

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "plugins").write_text("[].")
        (self.folder / "node.conf").write_text(self.settings)
        named = {
            "NODENAME": self.name,
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
            "SERVER_ADDITIONAL_ERL_ARGS": self.erlang,
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

    def control(self, *words: str) -> str:
        """What rabbitmqctl says, as an operator calls it."""
        command = [str(Path(PROGRAM).with_name("rabbitmqctl")), "-n", self.name, *words]
        environment = {**os.environ, "HOME": str(self.folder), "RABBITMQ_CONF_ENV_FILE": "/dev/null"}
        ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=self.folder)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def restart(self, queue: str) -> None:
        """Start again after a kill.

        A quorum queue of a single node may find no leader after SIGKILL (RabbitMQ 3.10). Then the operator deletes it, by the
        command that docs/how-to/outgrow-one-database.md names; whoever uses the queue declares it anew.
        """
        self.start()
        if not self._answers(queue):
            self.control("delete_queue", queue)

    def _answers(self, queue: str) -> bool:
        """Whether a queue can be read: without a leader it says nothing, or that its process is gone."""
        from amqp.exceptions import InternalError
        from kombu import Connection

        with (
            suppress(OSError, InternalError),
            Connection(self.url, connect_timeout=2, transport_options={"read_timeout": 5}) as connection,
        ):
            channel = connection.channel()
            message = channel.basic_get(queue)
            if message is not None:
                channel.basic_reject(message.delivery_tag, requeue=True)
            return True
        return False

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


@dataclass
class RedisNode:
    """A Redis of a test's own, with the settings given as on its command line."""

    folder: Path
    port: int
    settings: tuple[str, ...] = ()
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        from redis import Redis
        from redis.exceptions import ConnectionError as NotYet

        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), *self.settings]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(NotYet), Redis.from_url(self.url) as server:
                server.ping()
                return
            time.sleep(0.05)
        raise AssertionError("Redis did not start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
