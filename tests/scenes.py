"""Job tables with something in them, for the tests of those who look at them."""

from collections.abc import Sequence
from typing import Any

from databases import Database

from cron2queue.runtime.jobs import AttemptRecord, Done, GiveUp, Job, NewJob, Outcome, RetryAt, Settlement, WorkerInfo
from cron2queue.runtime.store import Store

KIND = "send-mail"


def accept(store: Store, count: int, **fields: Any) -> list[str]:
    """Enqueue so many jobs; their public ids, oldest first."""
    jobs = [NewJob(**{"kind": KIND, "key": f"k{number}", "payload": {"n": number}, **fields}) for number in range(count)]
    return [each.public_id for each in store.enqueue_many(jobs)]


def register(store: Store, token: str = "w1", *, kinds: Sequence[str] = (KIND,), queues: Sequence[str] = ("default",)) -> str:
    """A worker that has just begun."""
    store.register_worker(WorkerInfo(token=token, host="web1", pid=4711, version="1.0", kinds=kinds, queues=queues))
    return token


def claim(store: Store, limit: int = 1, *, worker: str = "w1", queue: str = "default", kind: str = KIND) -> list[Job]:
    """Claim, as a worker would."""
    return store.claim(queue, kinds=[kind], limit=limit, worker=worker)


def settle(
    store: Store, job: Job, outcome: Outcome, *, name: str, run_seconds: float = 1.0, output: str = "", **record: Any
) -> None:
    """End one attempt."""
    kept = AttemptRecord(run_seconds=run_seconds, outcome_name=name, output_tail=output, **record)
    assert store.settle([Settlement(job=job, outcome=outcome, record=kept)]) == [True]


def finish(store: Store, count: int = 1, *, run_seconds: float = 1.0, **where: Any) -> list[Job]:
    """Claim and end well."""
    jobs = claim(store, count, **where)
    for job in jobs:
        settle(store, job, Done(), name="done", run_seconds=run_seconds)
    return jobs


def kill(store: Store, count: int = 1, *, message: str = "order 4711 is unknown", output: str = "", **where: Any) -> list[Job]:
    """Claim and give up."""
    jobs = claim(store, count, **where)
    for job in jobs:
        outcome = GiveUp(reason="permanent", message=message, diagnostic="Traceback: KeyError")
        settle(store, job, outcome, name="permanent", output=output, exit_status=65)
    return jobs


def fail(store: Store, count: int = 1, *, message: str = "503 Server Error", delay: float = 3600.0, **where: Any) -> list[Job]:
    """Claim and fail, to be tried again."""
    jobs = claim(store, count, **where)
    for job in jobs:
        settle(store, job, RetryAt(delay_seconds=delay, message=message), name="retry")
    return jobs


def shop(database: Database) -> Store:
    """Ten jobs of two owners: one done, two dead, one to be tried again, one running, five ready; one worker."""
    store = database.store()
    accept(store, 10, owner="anna")
    register(store)
    finish(store)
    kill(store, 2, output="line one\nline \x1b[31mtwo\n")
    fail(store)
    (running,) = claim(store)
    store.progress(running, 0.4, "uploading")
    return store
