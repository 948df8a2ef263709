"""When SQLite's log is on the disk: at the end of each verb whose outcome somebody goes by, and never for a mere look."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from databases import Database

RUN = """
import os, sys
from cron2queue.runtime.jobs import Done, NewJob, Settlement
from cron2queue.runtime.store import Store

def claim():
    return store.claim("default", kinds=("mail",), limit=1, worker="w")

def verb(name, act):
    os.write(marks, f"BEGIN {name}".encode())
    answer = act()
    os.write(marks, f"END {name}".encode())
    return answer

store, marks = Store.open(sys.argv[1]), os.open("/dev/null", os.O_WRONLY)
store.enqueue(NewJob(kind="mail"))  # the log is made and has its header
store.settle([Settlement(job=claim()[0], outcome=Done())])
verb("look", claim)
verb("enqueue", lambda: store.enqueue(NewJob(kind="mail")))
(job,) = verb("claim", claim)
verb("settle", lambda: store.settle([Settlement(job=job, outcome=Done())]))
store.enqueue_many([NewJob(kind="mail"), NewJob(kind="mail")])
ends = [Settlement(job=claim()[0], outcome=Done())]
held, jobs = verb("both", lambda: store.settle_and_claim(ends, "default", kinds=("mail",), limit=1, worker="w"))
assert held == [True] and len(jobs) == 1
"""


@pytest.mark.needs("strace")
def test_a_claim_is_on_the_disk_before_its_job_may_begin_as_is_all_that_is_acknowledged(
    sqlite_database: Database, tmp_path: Path
) -> None:
    sqlite_database.close()
    calls = tmp_path / "calls"
    watch = ["strace", "-f", "-qq", "-e", "trace=write,pwrite64,fsync,fdatasync", "-e", "signal=none", "-o", str(calls)]
    subprocess.run([*watch, sys.executable, "-B", "-c", RUN, sqlite_database.url], check=True)
    found = re.findall(r'"BEGIN (\w+)"(.*?)"END \1"', calls.read_text(), flags=re.DOTALL)
    order = {name: re.findall(r"\b(pwrite64|fsync|fdatasync)\(", between) for name, between in found}
    assert list(order) == ["look", "enqueue", "claim", "settle", "both"]
    assert order.pop("look") == []
    for name, made in order.items():
        writes, synced = made[:-1], made[-1]
        assert writes and set(writes) == {"pwrite64"}, name
        assert synced in ("fdatasync", "fsync"), name
