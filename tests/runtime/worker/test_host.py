"""A host on which a worker could not make, see or end its children: it says so at its start, and touches no job."""

import subprocess
import sys

import pytest
from presence import absent
from workbench import Workbench

UNSHARED = ["unshare", "--mount", "--fork"]
HOSTS = {
    "few descriptors": (["sh", "-c", 'ulimit -n 20; exec "$@"', "sh"], "only 20 files may be open", "ulimit -n"),
    "no /proc": ([*UNSHARED, "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh"], "/proc does not show", "mount -t proc"),
    "the /proc of others": ([*UNSHARED, "--pid", "--kill-child"], "/proc does not show", "PID namespace"),
    "a forbidden call": (
        ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=pidfd_open:error=EPERM"],
        "no child process can be made here: [Errno 1]",
        "pidfd_open(2)",
    ),
}


@pytest.mark.needs("strace")
@pytest.mark.parametrize("host", HOSTS)
def test_a_worker_refuses_a_host_on_which_it_could_only_give_jobs_back_for_ever(sqlite_bench: Workbench, host: str) -> None:
    within, said, remedy = HOSTS[host]
    if within[0] == "unshare" and subprocess.run([*within, "true"], capture_output=True).returncode:
        absent("no right to make a mount or PID namespace")
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): note("ran")\n')
    job = sqlite_bench.enqueue("work")
    worker = [sys.executable, "-m", "cron2queue.runtime", "work", "--plan", "cron2queue.toml", "--database", sqlite_bench.url]
    ran = subprocess.run([*within, *worker], cwd=sqlite_bench.folder, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 4, ran.stderr
    assert said in ran.stderr and remedy in ran.stderr.partition("remedy:")[2] and "Traceback" not in ran.stderr
    assert sqlite_bench.rows("SELECT runs, state FROM {jobs} WHERE id = ?", (job.id,)) == [(0, "ready")]
    assert sqlite_bench.rows("SELECT token FROM {workers}") == []


def test_more_children_need_more_descriptors(sqlite_bench: Workbench) -> None:
    sqlite_bench.python("work")
    sqlite_bench.handlers('@handler("work")\ndef work(job): pass\n')
    worker = [sys.executable, "-m", "cron2queue.runtime", "work", "--drain", "--database", sqlite_bench.url]
    limited = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *worker, "--queue", "default:20", "--children"]
    ends = [
        subprocess.run([*limited, number], cwd=sqlite_bench.folder, capture_output=True).returncode for number in ("2", "20")
    ]
    assert ends == [0, 4]
