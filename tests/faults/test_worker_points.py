"""A real worker is killed in each phase of its work, before and behind each word that it says to the database; then another
goes on, and SQL says whether all is well. Its children are killed around the commit of a job's own transaction.

C2Q_KILL_POINTS=all tries every point; otherwise a few are chosen, by C2Q_SEED or a seed that is printed.
"""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from dying import few_of, random
from faults.dying_worker import PHASES
from faults.test_kills import marked
from invariants import broken
from workbench import PATIENCE_SECONDS, Workbench

from cron2queue.runtime.jobs import Done, NewJob, Settlement, WorkerInfo

SCRIPT = Path(__file__).with_name("dying_worker.py")
FEW = 6
TRIES = 5  # what is given back depends on what a claim happens to find
MOST = 20  # words of a phase: behind them, only its loops go on
WORK = """
@handler("effect")
def effect(job):
    with job.transaction() as connection:
        if job.once(job.key):
            connection.cursor().execute(f"INSERT INTO effects (job) VALUES ('{job.key}')")

@handler("short", short=True)
def short(job): pass

@handler("spared")
def spared(job):
    if job.attempt == 1:
        raise RetryLater(0.05, pause_kind=True)

@handler("fatal")
def fatal(job):
    def die(place):
        if job.payload == place and job.attempt == 1:
            os.kill(os.getpid(), 9)
    die("before the transaction")
    with job.transaction() as connection:
        connection.cursor().execute(f"INSERT INTO effects (job) VALUES ('{job.key}')")
        die("before its commit")
    die("behind its commit")
"""
PLAN = "".join(f'[jobs.{kind}]\nhandler = "handlers/work.py"\nretry = [0]\n' for kind in ("effect", "short", "spared", "fatal"))


class Point(NamedTuple):
    """See dying_worker.py."""

    phase: str
    word: int
    way: str


@pytest.fixture
def acknowledged(bench: Workbench) -> list[int]:
    """Handlers, a plan, and a table for effects; what is enqueued is added."""
    bench.write("cron2queue.toml", PLAN)
    bench.handlers(WORK)
    unit = bench.store.sessions.unit
    unit(lambda session: session.run("DROP TABLE IF EXISTS effects"))
    unit(lambda session: session.run("CREATE TABLE effects (job VARCHAR(40))"))
    return []


def prepare(bench: Workbench, acknowledged: list[int]) -> None:
    """Something to do for every phase: jobs, a worker that has gone with some, one that is due, one that is too old."""
    store, number = bench.store, len(acknowledged)
    old = store.enqueue(NewJob(kind="old", key=f"old {number}"))
    (job,) = store.claim("default", kinds=("old",), limit=1, worker="once")
    assert (job.id, store.settle([Settlement(job=job, outcome=Done())])) == (old.id, [True])
    store.sessions.unit(lambda session: session.run("UPDATE {jobs} SET finished_at = 1 WHERE id = ?", (old.id,)))
    gone = f"gone {number}"
    store.register_worker(WorkerInfo(token=gone, host="h", pid=1, version="0", kinds=("short",), queues=("default",)))
    kinds = ["effect"] * 3 + ["short"] * 6 + ["spared"]
    jobs = [NewJob(kind=kind, key=f"{number}/{each}", max_attempts=50) for each, kind in enumerate(kinds)]
    acknowledged += [answer.id for answer in store.enqueue_many(jobs)]
    store.claim("default", kinds=("short",), limit=3, worker=gone)
    soon = datetime.now(UTC) + timedelta(seconds=0.3)
    acknowledged.append(store.enqueue(NewJob(kind="effect", key=f"{number}/late", max_attempts=50, run_at=soon)).id)


def end_of(bench: Workbench, point: Point, mark: str) -> int:
    """Drain with a worker that dies at this point; how it ended."""
    work = ["work", "--plan", "cron2queue.toml", "--database", bench.url, "--queue", "default:2", "--lease", "1.2", "--drain"]
    with (bench.folder / "dying.log").open("a") as log:
        command = [sys.executable, str(SCRIPT), point.phase, str(point.word), point.way, *work]
        name, _, text = mark.partition("=")
        ran = subprocess.run(
            command, cwd=bench.folder, stdout=log, stderr=log, timeout=PATIENCE_SECONDS, env={**os.environ, name: text}
        )
    return ran.returncode


def check(bench: Workbench, acknowledged: list[int]) -> None:
    """Another worker goes on, and all is well."""
    assert bench.drain("--lease", "1.2", "--queue", "default:2") == 0, bench.log()
    bench.until(lambda: set(bench.states()) <= {"succeeded", "dead"})
    assert broken(bench, acknowledged) == {}
    effects = sorted(row[0] for row in bench.rows("SELECT job FROM effects"))
    done = bench.rows("SELECT job_key FROM {jobs} WHERE kind IN ('effect', 'fatal') AND state = 'succeeded'")
    assert effects == sorted(bytes(row[0]).decode() for row in done)  # I2


def chosen(words: dict[str, int], by: Random, *, said: bool) -> list[Point]:
    """A few phases with a point in each, or all points of all."""
    found = []
    for phase in few_of(sorted(words), FEW, by):
        most = min(words[phase], MOST)
        unsaid = [Point(phase, word, "unsaid") for word in range(most + 1)]
        found += few_of(unsaid + [Point(phase, word, "said") for word in range(most if said else 0)], 1, by)
    return found


def test_a_worker_killed_at_any_word_of_any_phase_leaves_nothing_that_another_cannot_mend(
    bench: Workbench, acknowledged: list[int]
) -> None:
    by, mark = random(), f"C2Q_TEST_MARK={os.getpid()}-{bench.store.backend.name}-points"
    words: dict[str, int] = {}
    for _ in range(TRIES):
        prepare(bench, acknowledged)
        assert end_of(bench, Point("none", 0, "unsaid"), mark) == 0, (bench.folder / "dying.log").read_text()
        words |= json.loads((bench.folder / "words").read_text())
        if set(words) == set(PHASES):
            break
    assert set(words) == set(PHASES), "a phase that is never reached is never tested"
    ends = {}
    for point in chosen(words, by, said=bench.store.backend.name != "sqlite"):
        prepare(bench, acknowledged)
        ends[point] = end_of(bench, point, mark)
        bench.until(lambda: marked(mark) == [])  # I7
    print(f"{len(ends)} points:", ends)
    check(bench, acknowledged)
    assert set(ends.values()) <= {0, -signal.SIGKILL}, (bench.folder / "dying.log").read_text()
    assert -signal.SIGKILL in ends.values()


def test_a_child_killed_around_the_commit_of_its_job_does_it_once(bench: Workbench, acknowledged: list[int]) -> None:
    places = ("before the transaction", "before its commit", "behind its commit")
    jobs = {place: bench.enqueue("fatal", place, key=place, max_attempts=5) for place in places}
    acknowledged += [job.id for job in jobs.values()]
    check(bench, acknowledged)
    assert {place: bench.job(job)["attempts"] for place, job in jobs.items()} == dict(zip(places, (2, 2, 1), strict=True))
