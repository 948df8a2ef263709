"""A node of a MariaDB Galera cluster that has lost the others refuses every query until it is part of the cluster again."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import free_port
from presence import absent
from servers import Server
from workbench import Workbench

PROVIDER = Path("/usr/lib/galera/libgalera_smm.so")


@pytest.fixture
def node() -> Iterator[Server]:
    """A cluster of one."""
    if not PROVIDER.exists():
        absent(f"{PROVIDER} is not installed")
    base, transfer = free_port(), free_port()
    listens = f"base_port={base};gmcast.listen_addr=tcp://127.0.0.1:{base};ist.recv_addr=127.0.0.1:{transfer}"
    cluster = ("--wsrep-on=ON", f"--wsrep-provider={PROVIDER}", "--wsrep-cluster-address=gcomm://", "--binlog-format=ROW")
    own = Server("mariadb", options=(*cluster, f"--wsrep-provider-options={listens}", "--wsrep-node-address=127.0.0.1"))
    try:
        own.start()
        yield own
    finally:
        own.remove()


def test_a_node_that_is_not_ready_is_no_bug_and_no_mistake_and_is_waited_for(node: Server, tmp_path: Path) -> None:
    bench = Workbench(folder=tmp_path, url=node.create("jobs"))
    try:
        bench.python("work")
        bench.handlers('@handler("work")\ndef work(job): note("ran")\n')
        worker = bench.start()
        bench.at_work(worker)
        raw = bench.store.driver.connect()
        raw.cursor().execute("SET GLOBAL wsrep_reject_queries = ALL")
        bench.until(lambda: "has not yet prepared node" in bench.log(0))
        late = bench.start()
        assert late.wait(60) == 69, bench.log()  # and not 2, with which the generated unit is not started again
        command = [sys.executable, "-m", "cron2queue", "enqueue", "--kind", "work", "--database", bench.url]
        assert subprocess.run(command, capture_output=True, cwd=tmp_path).returncode == 69
        raw.cursor().execute("SET GLOBAL wsrep_reject_queries = NONE")
        raw.close()
        job = bench.enqueue("work")
        bench.until(lambda: bench.job(job)["state"] == "succeeded")
        bench.stop(worker)
    finally:
        bench.close()
