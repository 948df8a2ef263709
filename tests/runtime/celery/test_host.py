"""A host on which a Celery worker could not see or end what its jobs start: it says so and takes no message."""

import os
import subprocess
import sys

from celery_bench import CeleryBench
from presence import absent

from cron2queue.runtime.celery.publishing import Ready

PLAN = """
[jobs.a]
handler = "command"
command = "true"
timeout = 60
"""
WITHOUT_PROC = ["unshare", "--mount", "--fork", "sh", "-c", 'mount -t tmpfs none /proc; exec "$@"', "sh"]


def test_a_worker_without_proc_says_so_and_takes_no_message(bench: CeleryBench) -> None:
    if subprocess.run([*WITHOUT_PROC, "true"], capture_output=True).returncode:
        absent("no right to make a mount namespace")
    bench.plan(PLAN)
    job = bench.enqueue("a")
    bench.publisher().send("default", [Ready(job.public_id, "a", 100, 0)])
    work = [sys.executable, "-P", "-m", "celery", "-A", "celery_app", "worker", "--queues", f"c2q.{bench.project}.default"]
    ran = subprocess.run(
        [*WITHOUT_PROC, *work, "--concurrency", "1", "--without-gossip", "--without-mingle"],
        cwd=bench.folder,
        env={**os.environ, **bench.environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode != 0
    assert "/proc does not show" in ran.stderr and "mount -t proc" in ran.stderr and "Traceback" not in ran.stderr
    assert bench.states() == {"ready": 1}
    assert bench.publisher().waiting("default") == 1
