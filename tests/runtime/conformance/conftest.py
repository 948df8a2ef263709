"""Every sentence of this folder is tried on each database, with its own backend and with the bare base."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from databases import NAMES, Database, open_database

from cron2queue.runtime.jobs import Job, NewJob, Outcome, Settlement
from cron2queue.runtime.store import Store

KINDS = ("mail", "report")


@pytest.fixture(params=[f"{name}{variant}" for name in NAMES for variant in ("", "-bare")])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty job table; `-bare` has the base backend only."""
    name, _, bare = request.param.partition("-")
    opened = open_database(name, tmp_path, bare=bool(bare))
    yield opened
    opened.close()


@pytest.fixture
def store(table: Database) -> Store:
    return table.store()


Claimer = Callable[..., list[Job]]


@pytest.fixture
def claim(store: Store) -> Claimer:
    """Claims of worker w1 from the default queue."""

    def take(limit: int = 10, *, worker: str = "w1", queue: str = "default", by: Store = store) -> list[Job]:
        return by.claim(queue, kinds=KINDS, limit=limit, worker=worker)

    return take


def settled(store: Store, job: Job, outcome: Outcome, *, delay: float | None = None) -> bool:
    return store.settle([Settlement(job=job, outcome=outcome, retry_delay=delay)])[0]


def mail(**fields: object) -> NewJob:
    return NewJob(kind="mail", **fields)  # type: ignore[arg-type]


def state_of(table: Database, public_id: str) -> str:
    return str(table.value("SELECT state FROM {jobs} WHERE public_id = ?", (public_id,)))
