"""The database server itself is killed while workers run, and started again; then SQL says whether all is well."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from databases import SERVERS
from faults.test_kills import LEASE, prepare
from invariants import broken
from servers import Server
from workbench import Workbench

from cron2queue.runtime.jobs import NewJob

KILLS = int(os.environ.get("C2Q_KILLS", "2"))
JOBS = int(os.environ.get("C2Q_KILL_JOBS", "600"))


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server that may be killed."""
    own = Server(request.param)
    try:
        own.start()
        yield own
    finally:
        own.remove()


def test_a_server_that_is_killed_loses_no_job_and_doubles_none(server: Server, tmp_path: Path) -> None:
    bench = Workbench(folder=tmp_path, url=server.create("killed"))
    try:
        acknowledged = prepare(bench, JOBS)
        workers = [bench.start("--lease", LEASE, "--queue", "default:2") for _ in range(2)]
        bench.at_work(*workers)
        for number in range(1, KILLS + 1):
            bench.until(lambda part=number: done(bench) >= JOBS * part // (KILLS + 2))
            server.kill()
            server.start()
            acknowledged.append(bench.store.enqueue(NewJob(kind="short", key=f"after kill {number}")).id)
        bench.until(lambda: set(bench.states()) <= {"succeeded", "dead"})
        bench.stop(*workers)
        assert broken(bench, acknowledged) == {}
        effects = [row[0] for row in bench.rows("SELECT job FROM effects")]
        succeeded = bench.rows("SELECT id FROM {jobs} WHERE kind = 'effect' AND state = 'succeeded'")
        assert (len(effects), len(set(effects))) == (len(succeeded), len(succeeded))
        assert bench.lines("overlaps") == []
    finally:
        bench.close()


def done(bench: Workbench) -> int:
    return bench.states().get("succeeded", 0)
