"""SQL servers of the test run's own, that tests may kill and start again; the shared ones belong to everybody.

The programs are those of the system, and for MySQL those that `.ci/servers` unpacks (C2Q_MYSQL_HOME). Where one is missing, its
tests skip at home and fail where CI is set.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from brokers import free_port
from presence import need_program

from cron2queue.errors import DatabaseUnavailable
from cron2queue.runtime.database.address import parse
from cron2queue.runtime.desk import driver_for
from cron2queue.runtime.worker.proctree import kill_tree

PATIENCE_SECONDS = 120.0
_USERS = {"mariadb": "mysql", "mysql": "mysql", "postgresql": "postgres"}  # servers refuse to run as root
_MYSQL = Path(os.environ.get("C2Q_MYSQL_HOME", "/opt/c2q-mysql")) / "root"


def _postgresql(program: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    return str(found[-1]) if found else program


_PROGRAMS = {
    "mariadb": "mariadbd",
    "mysql": str(_MYSQL / "usr/sbin/mysqld"),
    "postgresql": _postgresql("postgres"),
}


def _mysqld() -> list[str]:
    libraries = _MYSQL / "usr/lib/x86_64-linux-gnu"
    loader = [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries), str(_MYSQL / "usr/sbin/mysqld")]
    return [*loader, "--no-defaults", f"--basedir={_MYSQL / 'usr'}", "--secure-file-priv=NULL", "--mysqlx=OFF"]


@dataclass
class Server:
    """One server with its own data and port. `start` waits until it answers; `options` are further words of its command."""

    name: str
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="c2q-server-", dir="/tmp")))
    port: int = field(default_factory=free_port)
    options: tuple[str, ...] = ()
    process: "subprocess.Popen[bytes] | None" = None

    def __post_init__(self) -> None:
        need_program(_PROGRAMS[self.name])
        if os.geteuid() == 0:
            owner = pwd.getpwnam(_USERS[self.name])
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
        self._run(*self._initialization())

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def url(self, database: str) -> str:
        scheme, user = ("postgresql+psycopg", "postgres") if self.name == "postgresql" else ("mysql+pymysql", "root")
        return f"{scheme}://{user}@127.0.0.1:{self.port}/{database}"

    def _initialization(self) -> list[str]:
        if self.name == "postgresql":
            return [_postgresql("initdb"), "-D", self.data, "-A", "trust", "-U", "postgres"]
        if self.name == "mysql":
            return [*_mysqld(), f"--datadir={self.data}", "--initialize-insecure"]
        return ["mariadb-install-db", "--no-defaults", f"--datadir={self.data}", "--auth-root-authentication-method=normal"]

    def _program(self) -> list[str]:
        if self.name == "postgresql":
            return [_postgresql("postgres"), "-D", self.data, "-p", str(self.port), "-k", str(self.folder), "-h", "127.0.0.1"]
        first = _mysqld() if self.name == "mysql" else ["mariadbd", "--no-defaults"]
        socket = self.folder / "s.sock"
        for left in (socket, socket.with_suffix(".sock.lock")):  # of one that was killed
            left.unlink(missing_ok=True)
        return [*first, f"--datadir={self.data}", f"--port={self.port}", f"--socket={socket}", "--bind-address=127.0.0.1"]

    def _user(self) -> dict[str, str]:
        return {"user": _USERS[self.name], "group": _USERS[self.name]} if os.geteuid() == 0 else {}

    def _run(self, *command: str) -> None:
        ran = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **self._user())  # type: ignore[call-overload]
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def start(self) -> None:
        """Start it, and again while what was left by a kill still stands in its way."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            if self.process is None or self.process.poll() is not None:
                with (self.folder / "log").open("ab") as log:
                    self.process = subprocess.Popen(  # type: ignore[call-overload]
                        [*self._program(), *self.options],
                        stdout=log,
                        stderr=log,
                        cwd=self.folder,
                        start_new_session=True,
                        **self._user(),
                    )
            if self._answers():
                return
            assert time.monotonic() < deadline, (self.folder / "log").read_text(errors="replace")[-3000:]
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            driver = driver_for(parse(self.url("postgres" if self.name == "postgresql" else "")))
            driver.close(driver.connect())
        except DatabaseUnavailable:
            return False
        return True

    def create(self, database: str) -> str:
        """A database in it; its URL."""
        driver = driver_for(parse(self.url("postgres" if self.name == "postgresql" else "")))
        raw = driver.connect()
        driver.cursor(raw).execute(f"CREATE DATABASE {database}")
        driver.close(raw)
        return self.url(database)

    def kill(self) -> None:
        """SIGKILL to all of it at once: what it has acknowledged is on disk, all else is gone."""
        if self.process is None:
            return
        # First it is stopped: a process that PostgreSQL made in between would wait for ever for a lock of the dead, and with
        # it every new start.
        self.process.send_signal(signal.SIGSTOP)
        kill_tree(self.process.pid)
        self.process.kill()
        self.process.wait()
        self.process = None

    def remove(self) -> None:
        """Its end."""
        self.kill()
        shutil.rmtree(self.folder)
