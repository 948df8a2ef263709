"""Workers, producers and rescue at once on one table: errors, deadlocks that were run again, and how long producers wait.

    python benchmarks/contention.py [DATABASE ...] [--seconds N] [--pace SECONDS]

Eight workers claim, settle in all ways, complete in their handlers' transactions, move what is due and are rescued from, all
as fast as they can, first beside two producers on a nearly empty queue, then with a backlog, then beside eight producers. An
error is whatever a verb raises; a lease that a rescue took is none. Deadlocks are those that the database broke and a unit
was run again for; `waits` are other locks that a unit did not wait for longer. Each sixteenth job of a producer has one of
eight keys that all producers share: such jobs are what still meets, where many enqueue the same at the same moment.

Then the producers by themselves: two of them enqueue at a steady pace, first without workers, then beside eight that look at
an empty queue whenever a producer wakes them and each 50 ms. Takes about half a minute for each database.
"""

import argparse
import multiprocessing
import os
import select
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from databases import NAMES, Database, open_database

from cron2queue.runtime.database import wakeups
from cron2queue.runtime.database.driver import Failure
from cron2queue.runtime.database.session import Sessions
from cron2queue.runtime.jobs import Done, Job, NewJob, RetryAt, Settlement
from cron2queue.runtime.store import Store

WORKERS = 8
BACKLOG = 20_000
POLL_SECONDS = 0.05
DEADLOCKS = frozenset({1213, 1614, 1020, "40P01", "40001"})
GOAL_DEADLOCKS, GOAL_P99 = 1, 3

Figures = dict[str, Any]
Role = Callable[[Store, int, float, "Figures"], None]


def watch(figures: Figures) -> None:
    """Count in this process what units are run again for."""
    after = Sessions._after

    def counting(self: Sessions, attempt: Any, error: Exception, *, patient: bool) -> None:
        if attempt.meaning_of(error) is Failure.AGAIN:
            code = getattr(error, "sqlstate", None) or (error.args[0] if error.args else None)
            figures["deadlocks" if code in DEADLOCKS else "waits"] += 1
        after(self, attempt, error, patient=patient)

    Sessions._after = counting  # type: ignore[method-assign]


def turns(figures: Figures, until: float) -> Iterator[int]:
    """Numbers until the time has come."""
    number = 0
    while time.monotonic() < until:
        yield number
        number += 1


def guarded(figures: Figures, verb: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What the verb returns; None after an error, which is kept, and work goes on."""
    try:
        return verb(*arguments, **named)
    except Exception as error:
        figures["errors"].append(f"{type(error).__name__}: {error}")
        return None


def work(store: Store, number: int, until: float, figures: Figures) -> None:
    """Claim and settle without rest; each twentieth job completes in a transaction of its handler's own."""
    ends: list[Settlement] = []
    for turn in turns(figures, until):
        worker, most = f"w{number}", 1 + turn % 20
        answer = guarded(figures, store.settle_and_claim, ends, "default", kinds=("mail",), limit=most, worker=worker)
        held, jobs = answer or ([], [])
        figures["jobs"] += sum(held)
        ends = [Settlement(job=job, outcome=RetryAt(delay_seconds=0) if _fails(job) else Done()) for job in jobs]
        if ends and turn % 20 == 0:
            guarded(figures, _complete, store, ends.pop().job, figures)
        if turn % 10 == 0:
            guarded(figures, store.move_due)
    guarded(figures, store.settle, ends)


def _fails(job: Job) -> bool:
    return job.id % 10 == 0 and job.run == 1


def _complete(store: Store, job: Job, figures: Figures) -> None:
    from cron2queue.runtime.trouble import LeaseLost

    try:
        with store.transaction(job) as raw:
            raw.cursor().execute("SELECT 1")
        figures["jobs"] += 1
    except LeaseLost:
        pass


def rescue(store: Store, number: int, until: float, figures: Figures) -> None:
    """Take the jobs of one worker after another away, as if it had stood still."""
    for turn in turns(figures, until):
        guarded(figures, store.rescue, f"w{turn % WORKERS}", counter_seen=-1, by="rescue")
        time.sleep(0.1)


def produce(store: Store, number: int, until: float, figures: Figures) -> None:
    """Enqueue without rest: without a key, with one of its own, and now and then with one that others have too."""
    for turn in turns(figures, until):
        key = None if turn % 2 else f"{number}/{turn}/{until}" if turn % 16 else f"shared {turn % 128}"
        began = time.perf_counter()
        guarded(figures, store.enqueue, NewJob(kind="mail", key=key))
        figures["took"].append(time.perf_counter() - began)


def produce_steadily(pace: float) -> Role:
    def role(store: Store, number: int, until: float, figures: Figures) -> None:
        for _ in turns(figures, until):
            time.sleep(pace)
            began = time.perf_counter()
            guarded(figures, store.enqueue, NewJob(kind="other", queue="other"))
            figures["took"].append(time.perf_counter() - began)

    return role


def look(store: Store, number: int, until: float, figures: Figures) -> None:
    """Look at an empty queue when woken, and at least each 50 ms."""
    end = wakeups.listen(store.driver.address, store.prefix)
    assert end is not None
    for _ in turns(figures, until):
        guarded(figures, store.claim, "default", kinds=("mail",), limit=10, worker=f"w{number}")
        select.select([end], [], [], POLL_SECONDS)
        try:
            while end.recv(16):
                pass
        except BlockingIOError:
            pass
    end.close()


def _run(role: Role, url: str, number: int, barrier: Any, seconds: float, answers: Any) -> None:
    figures: Figures = {"errors": [], "took": [], "jobs": 0, "deadlocks": 0, "waits": 0}
    watch(figures)
    store = Store.open(url)
    store.controls()
    barrier.wait(60)
    role(store, number, time.monotonic() + seconds, figures)
    store.close()
    answers.put(figures)


def together(database: Database, roles: list[Role], seconds: float) -> Figures:
    """Run all roles at once, each in a process of its own; their figures added up."""
    database.close()  # no connection crosses the fork
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(len(roles)), context.Queue()
    arguments = [(role, database.url, number, barrier, seconds, answers) for number, role in enumerate(roles)]
    processes = [context.Process(target=_run, args=each) for each in arguments]
    for process in processes:
        process.start()
    found: list[Figures] = [answers.get(timeout=seconds + 120) for _ in processes]
    for process in processes:
        process.join()
    return {
        "errors": [each for one in found for each in one["errors"]],
        "took": sorted(each * 1000 for one in found for each in one["took"]),
        **{name: sum(one[name] for one in found) for name in ("jobs", "deadlocks", "waits")},
    }


def percentiles(took: list[float]) -> tuple[float, float]:
    return statistics.median(took), took[int(len(took) * 0.99)]


def under_load(database: Database, seconds: float) -> None:
    """The three loads, a line for each, and the sum against its goal."""
    loads: dict[str, tuple[int, list[Role]]] = {
        "nearly empty": (0, [work] * WORKERS + [produce] * 2 + [rescue]),
        "backlog": (BACKLOG, [work] * WORKERS + [produce] * 2 + [rescue]),
        "8 producers": (0, [work] * WORKERS + [produce] * 8 + [rescue]),
    }
    errors, total = 0, Counter[str]()
    for name, (backlog, roles) in loads.items():
        database.empty()
        for _ in range(backlog // 1000):
            database.store().enqueue_many([NewJob(kind="mail") for _ in range(1000)])
        figures = together(database, roles, seconds)
        p50, p99 = percentiles(figures["took"])
        for error, count in Counter(figures["errors"]).most_common(3):
            print(f"{database.name:<12}{name:<14}{count} x {error}", file=sys.stderr)
        counts = {each: figures[each] for each in ("jobs", "deadlocks", "waits")} | {"errors": len(figures["errors"])}
        errors += counts["errors"]
        if name != "8 producers":
            total.update(counts)
        print(
            f"{database.name:<12}{name:<14}{counts['jobs']:>8}{counts['errors']:>8}{counts['deadlocks']:>11}{counts['waits']:>8}"
            f"{p50:>9.2f}{p99:>9.2f}",
            flush=True,
        )
    share = total["deadlocks"] / max(total["jobs"], 1) * 10_000
    print(
        f"{database.name:<12}{errors} errors   goal 0      with 2 producers {share:.2f} deadlocks in 10,000 jobs   "
        f"goal at most {GOAL_DEADLOCKS}"
    )


def beside_idle_workers(database: Database, seconds: float, pace: float) -> None:
    """Producers without and with workers that find nothing, in turn."""
    alone: list[float] = []
    beside: list[float] = []
    for _ in range(2):
        database.empty()
        alone += together(database, [produce_steadily(pace)] * 2, seconds / 2)["took"]
        beside += together(database, [produce_steadily(pace)] * 2 + [look] * WORKERS, seconds / 2)["took"]
    for name, took in (("alone", alone), ("8 looking", beside)):
        p50, p99 = percentiles(sorted(took))
        print(f"{database.name:<12}{name:<14}{len(took):>8}{'':>27}{p50:>9.2f}{p99:>9.2f}")
    ratio = percentiles(sorted(beside))[1] / percentiles(sorted(alone))[1]
    print(f"{database.name:<12}producers' p99 beside workers that look, against none: {ratio:.2f}   goal at most {GOAL_P99}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="*", default=list(NAMES), metavar="DATABASE")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each load")
    parser.add_argument("--pace", type=float, default=0.02, help="seconds between two enqueues of a steady producer")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, a steady producer enqueues each {options.pace * 1000:g} ms")
    print(f"{'database':<12}{'load':<14}{'jobs':>8}{'errors':>8}{'deadlocks':>11}{'waits':>8}{'p50 ms':>9}{'p99 ms':>9}")
    for name in options.databases:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            database = open_database(name, Path(folder))
            under_load(database, options.seconds)
            beside_idle_workers(database, options.seconds, options.pace)
            database.empty()
            database.close()


if __name__ == "__main__":
    main()
