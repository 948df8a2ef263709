"""What runs in the processes of the races. Each waits at the barrier, so that all begin at the same moment."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from typing import Any

from cron2queue.runtime.backend import Backend
from cron2queue.runtime.jobs import Crashed, Done, NewJob, RetryAt, Settlement
from cron2queue.runtime.store import Store

Racer = Callable[..., Any]


def _run(
    racer: Racer, place: tuple[str, bool], barrier: Barrier, answers: Any, number: int, arguments: tuple[Any, ...]
) -> None:
    url, bare = place
    store = Store.open(url, backend=Backend() if bare else None, patience=60)
    try:
        store.controls()
        barrier.wait(60)
        answers.put((number, racer(store, number, *arguments), None))
    except BaseException as error:
        answers.put((number, None, f"{type(error).__name__}: {error}"))
    finally:
        store.close()


def race(place: tuple[str, bool], racers: list[tuple[Racer, tuple[Any, ...]]]) -> list[Any]:
    """Run all racers at once, each in a process of its own; their answers, or AssertionError with what went wrong."""
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(len(racers)), context.Queue()
    processes = [
        context.Process(target=_run, args=(racer, place, barrier, answers, number, arguments))
        for number, (racer, arguments) in enumerate(racers)
    ]
    for process in processes:
        process.start()
    found = sorted((answers.get(timeout=120) for _ in processes), key=lambda answer: answer[0])
    for process in processes:
        process.join(30)
    assert [answer[2] for answer in found] == [None] * len(racers)
    return [answer[1] for answer in found]


def drain(store: Store, number: int, batch: int, total: int) -> list[int]:
    """Claim and settle until all jobs of the table have ended; the ids that this process ran."""
    ran: list[int] = []
    ends: list[Settlement] = []
    while True:
        held, jobs = store.settle_and_claim(ends, "default", kinds=("mail",), limit=batch, worker=f"w{number}")
        ran += [end.job.id for end, was_held in zip(ends, held, strict=True) if was_held]
        ends = [Settlement(job=job, outcome=Done()) for job in jobs]
        if not jobs and ended(store) >= total:
            return ran


def ended(store: Store) -> int:
    return int(store.sessions.read(lambda session: session.value("SELECT COUNT(*) FROM {jobs} WHERE finished_at IS NOT NULL")))


def claim_once(store: Store, number: int, batch: int) -> list[int]:
    return [job.id for job in store.claim("default", kinds=("mail",), limit=batch, worker=f"w{number}")]


def produce(store: Store, number: int, count: int, keys: int) -> list[tuple[int, bool]]:
    """Enqueue one by one under shared keys."""
    answers = [store.enqueue(NewJob(kind="mail", key=f"k{each % keys}" if keys else None)) for each in range(count)]
    return [(answer.id, answer.duplicate) for answer in answers]


def produce_in_bulk(store: Store, number: int, keys: int) -> list[int]:
    order = range(keys) if number % 2 else reversed(range(keys))
    return [answer.id for answer in store.enqueue_many([NewJob(kind="mail", key=f"k{each}") for each in order])]


def produce_ordered(store: Store, number: int, count: int) -> int:
    for each in range(count):
        store.enqueue(NewJob(kind="mail", key=f"{number}/{each}", ordering_key="o"))
    return count


def drain_ordered(store: Store, number: int, total: int) -> list[tuple[int, int]]:
    """Run jobs of one ordering key; how many others were running at each time, and the ids."""
    seen: list[tuple[int, int]] = []
    running = "SELECT COUNT(*) FROM {jobs} WHERE state = 'running'"
    while ended(store) < total:
        jobs = store.claim("default", kinds=("mail",), limit=5, worker=f"w{number}")
        for job in jobs:
            seen.append((job.id, int(store.sessions.read(lambda session: session.value(running)))))
            store.settle([Settlement(job=job, outcome=Done())])
        if not jobs:
            store.move_due()
    return seen


def drain_limited(store: Store, number: int, total: int) -> int:
    """Run jobs under a limit; the most that were running at one time, as seen from here."""
    most = 0
    running = "SELECT COUNT(*) FROM {jobs} WHERE state = 'running'"
    while ended(store) < total:
        jobs = store.claim("default", kinds=("mail",), limit=4, worker=f"w{number}")
        most = max(most, int(store.sessions.read(lambda session: session.value(running))))
        store.settle([Settlement(job=job, outcome=Done()) for job in jobs])
        if not jobs:
            store.move_due()
    return most


def rough_work(store: Store, number: int, total: int) -> dict[str, int]:
    """Claim, settle in all ways, move, rescue, sweep, until all have ended. Database errors would end it."""
    counts = {"done": 0, "lost": 0, "rescued": 0}
    turn = number
    while ended(store) < total:
        turn += 1
        jobs = store.claim("default", kinds=("mail",), limit=1 + turn % 5, worker=f"w{number}")
        ends: list[Settlement] = []
        for job in jobs:
            outcome = Done() if (job.id + job.run) % 4 else RetryAt() if job.run < 3 else Done()
            ends.append(Settlement(job=job, outcome=Crashed(reason="x") if job.id % 17 == 0 and not job.crashes else outcome))
        held = store.settle([*ends])
        counts["done"] += sum(held)
        counts["lost"] += len(held) - sum(held)
        store.move_due()
        if turn % 3 == 0:
            victim = f"w{(number + 1) % 8}"
            counts["rescued"] += len(store.rescue(victim, counter_seen=-1, by=f"w{number}"))
    return counts


def cancel_all(store: Store, number: int, public_ids: list[str]) -> list[str]:
    return [str(store.cancel(public_id, by="user")) for public_id in public_ids]


def run_all_but_stop(store: Store, number: int, total: int) -> list[int]:
    """Finish what is claimed; the ids that were seen running."""
    seen: list[int] = []
    while ended(store) < total:
        jobs = store.claim("default", kinds=("mail",), limit=3, worker=f"w{number}")
        seen += [job.id for job in jobs]
        if number % 2:
            store.rescue(f"w{number - 1}", counter_seen=-1, by=f"w{number}")
        store.settle([Settlement(job=job, outcome=RetryAt() if job.run < 2 else Done()) for job in jobs])
        store.move_due()
    return seen
