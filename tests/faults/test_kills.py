"""Workers and children are killed at random while they work through thousands of jobs; then SQL says whether all is well.

The sizes fit a run of the whole suite; C2Q_KILL_JOBS and C2Q_KILLS make a soak of it. C2Q_SEED repeats a run.
"""

import os
import signal
import subprocess
import time
from pathlib import Path
from random import Random

from invariants import broken
from workbench import Workbench

LEASE = "1.2"
JOBS = {"sqlite": 1200, "mariadb": 1000, "mysql": 700, "postgresql": 1000}
KILLS = 6

HANDLERS = """
import contextlib, fcntl
LOCKS = os.path.dirname(__file__) + "/../locks"

@contextlib.contextmanager
def alone(job):
    # Two runs of one job at a time would meet at this lock.
    held = os.open(f"{LOCKS}/{job.key}", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        note("overlaps", job.key)
    finally:
        os.close(held)

@handler("effect")
def effect(job):
    with alone(job), job.transaction() as connection:
        if job.once(job.key):
            connection.cursor().execute(f"INSERT INTO effects (job) VALUES ('{job.key}')")

@handler("short", short=True)
def short(job):
    with alone(job): pass

@handler("slow")
def slow(job):
    with alone(job): time.sleep(0.02)
"""
PLAN = """
[jobs.effect]
handler = "handlers/work.py"
retry = [0]
[jobs.short]
handler = "handlers/work.py"
retry = [0]
[jobs.slow]
handler = "handlers/work.py"
retry = [0]
[jobs.command]
handler = "handlers/command"
retry = [0]
"""


def seeded() -> Random:
    seed = int(os.environ.get("C2Q_SEED") or int.from_bytes(os.urandom(4), "big"))
    print(f"seed: C2Q_SEED={seed}")
    return Random(seed)


def prepare(bench: Workbench, total: int) -> list[int]:
    bench.write("cron2queue.toml", PLAN)
    bench.handlers(HANDLERS)
    bench.write("handlers/command", "#!/bin/sh\ncat >/dev/null\n", mode=0o755)
    (bench.folder / "locks").mkdir()
    unit = bench.store.sessions.unit
    unit(lambda session: session.run("DROP TABLE IF EXISTS effects"))
    unit(lambda session: session.run("CREATE TABLE effects (job VARCHAR(20))"))
    kinds = ["effect"] * 4 + ["short"] * 12 + ["slow"] * 2 + ["command"] * 2
    from cron2queue.runtime.jobs import NewJob

    jobs = [NewJob(kind=kinds[n % len(kinds)], key=str(n), max_attempts=50) for n in range(total)]
    return [answer.id for answer in bench.store.enqueue_many(jobs)]


def tree_of(worker: "subprocess.Popen[str]") -> list[int]:
    from cron2queue.runtime.worker.proctree import descendants

    return [each.pid for each in descendants(worker.pid)]


def kill_something(workers: list["subprocess.Popen[str]"], random: Random) -> None:
    """A worker, or any process of one: template, child, program."""
    victim = random.choice(workers)
    family = tree_of(victim)
    pid = victim.pid if random.random() < 0.5 or not family else random.choice(family)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    if pid == victim.pid:
        victim.wait()


def marked(mark: str) -> list[str]:
    """Processes that were started by this test, by a variable that all of them inherit."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return found


def test_random_kills_lose_nothing_double_nothing_and_leave_nothing_behind(bench: Workbench) -> None:
    random = seeded()
    family = bench.store.backend.name
    total = int(os.environ.get("C2Q_KILL_JOBS", JOBS[family]))
    kills = int(os.environ.get("C2Q_KILLS", KILLS))
    acknowledged = prepare(bench, total)
    mark = f"C2Q_TEST_MARK={os.getpid()}-{family}"
    name, _, text = mark.partition("=")

    def started() -> "subprocess.Popen[str]":
        return bench.start("--lease", LEASE, "--queue", "default:2", environment={name: text})

    workers = [started(), started()]
    for _ in range(kills):
        time.sleep(random.uniform(0.05, 0.9))  # when it strikes is random; no outcome depends on it
        kill_something(workers, random)
        workers = [each if each.poll() is None else started() for each in workers]
    bench.until(lambda: set(bench.states()) <= {"succeeded", "dead"})
    bench.at_work(*workers)  # one that has only just been started may be told before its interpreter can listen
    bench.stop(*workers)
    assert broken(bench, acknowledged) == {}
    effects = [row[0] for row in bench.rows("SELECT job FROM effects")]
    done = {row[0] for row in bench.rows("SELECT id FROM {jobs} WHERE kind = 'effect' AND state = 'succeeded'")}
    assert (len(effects), len(set(effects))) == (len(done), len(done))  # I2
    assert bench.lines("overlaps") == []  # I5
    bench.until(lambda: marked(mark) == [])  # I7
