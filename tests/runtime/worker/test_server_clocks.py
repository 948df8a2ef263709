"""Jumps of a database server's clock: servers of the test's own, whose wall clock a preloaded library shifts."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from presence import need_program
from runtime.worker.fakewall import SOURCE
from workbench import PATIENCE_SECONDS, Workbench

from cron2queue.runtime.database.address import parse
from cron2queue.runtime.desk import driver_for

JUMPS = ("3600", "-7200", "31536000")  # +1 h, -2 h, +1 year, each from the real time


@dataclass
class Server:
    """A server with a clock that can be set."""

    url: str
    shift: Path

    def set_clock(self, seconds: str) -> None:
        self.shift.write_text(seconds)

    def now(self) -> float:
        """Seconds since 1970 by its clock."""
        driver = driver_for(parse(self.url))
        raw = driver.connect()
        try:
            cursor = raw.cursor()
            cursor.execute(f"SELECT {driver.now}")
            return float(cursor.fetchone()[0]) / 1e6
        finally:
            raw.close()


def _user(name: str) -> str | None:
    """Servers refuse to run as root."""
    return name if os.geteuid() == 0 else None


def _postgresql(folder: Path, port: int) -> tuple[list[str], list[str], str, str | None]:
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not homes:
        need_program("postgres")
    programs = homes[-1].parent if homes else Path(str(shutil.which("postgres"))).parent
    make = [f"{programs}/initdb", "-A", "trust", "-U", "postgres", "-D", f"{folder}/data"]
    run = [
        f"{programs}/postgres",
        "-D",
        f"{folder}/data",
        "-p",
        str(port),
        "-k",
        str(folder),
        "-c",
        "listen_addresses=127.0.0.1",
    ]
    return make, run, f"postgresql://postgres@127.0.0.1:{port}/postgres", _user("postgres")


def _mariadb(folder: Path, port: int) -> tuple[list[str], list[str], str, str | None]:
    install, server = need_program("mariadb-install-db"), need_program("mariadbd", "/usr/sbin/mariadbd")
    common = ["--no-defaults", f"--datadir={folder}/data"]
    make = [install, *common, "--auth-root-authentication-method=normal", "--skip-test-db"]
    run = [server, *common, f"--socket={folder}/s", f"--port={port}", "--bind-address=127.0.0.1", f"--pid-file={folder}/pid"]
    return make, run, f"mysql://root@localhost/mysql?unix_socket={folder}/s", _user("mysql")


_SERVERS: dict[str, Callable[[Path, int], tuple[list[str], list[str], str, str | None]]] = {
    "postgresql": _postgresql,
    "mariadb": _mariadb,
}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(params=list(_SERVERS))
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="c2q-clock-"))
    folder.chmod(0o755)
    make, run, url, user = _SERVERS[request.param](folder, _free_port())
    (folder / "fakewall.c").write_text(SOURCE)
    compiler = [need_program("cc", "gcc"), "-shared", "-fPIC", "-o", f"{folder}/fakewall.so", f"{folder}/fakewall.c", "-ldl"]
    subprocess.run(compiler, capture_output=True, check=True)
    made = Server(url, folder / "shift")
    made.set_clock("0")
    (folder / "data").mkdir(mode=0o700)
    if user is not None:
        account = pwd.getpwnam(user)
        for each in (folder, folder / "data"):
            os.chown(each, account.pw_uid, account.pw_gid)
    subprocess.run(make, user=user, cwd=folder, capture_output=True, check=True)
    faked = {**os.environ, "LD_PRELOAD": f"{folder}/fakewall.so", "FAKEWALL_FILE": str(made.shift)}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(run, user=user, cwd=folder, env=faked, stdout=log, stderr=log)
    try:
        _wait_for(process, folder / "log")
        yield made
    finally:
        made.set_clock("0")
        process.terminate()
        process.wait(PATIENCE_SECONDS)
        shutil.rmtree(folder)


def _wait_for(process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if re.search("ready (?:to accept|for) connections", log.read_text()):
            return
        time.sleep(0.05)
    raise AssertionError(f"the server did not start: {log.read_text()[-2000:]}")


def test_jumps_of_the_servers_clock_steal_no_job_and_repeat_none(server: Server, tmp_path: Path) -> None:
    bench = Workbench(folder=tmp_path, url=server.url)
    bench.python("slow")
    gates = {name: bench.gate(name) for name in ("a", "b", "c")}
    bench.handlers('@handler("slow")\ndef slow(job): note("ran", job.key); arrive(job.key); wait(job.key)\n')
    jobs = [bench.enqueue("slow", key=key) for key in gates]
    workers = [bench.start("--lease", "2") for _ in range(2)]
    bench.at_work(*workers)
    counters = "SELECT token, beat_counter FROM {workers}"
    for gate, shift in zip(gates.values(), JUMPS, strict=True):
        gate.arrived()
        before = server.now()
        server.set_clock(shift)
        assert abs(server.now() - before) > 3000  # the jump is real
        seen = dict(bench.rows(counters))
        # Both beat on, for longer than a lease lasts: a clock that counted would have made one of them dead.
        bench.until(lambda seen=seen: all(count >= seen.get(token, 0) + 8 for token, count in bench.rows(counters)))
        gate.open()
    bench.until(lambda: bench.states() == {"succeeded": 3})
    assert sorted(bench.lines("ran")) == ["a", "b", "c"]
    assert {(bench.job(job)["attempts"], bench.job(job)["crashes"]) for job in jobs} == {(1, 0)}
    bench.stop(*workers)
    bench.close()
