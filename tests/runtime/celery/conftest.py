"""One broker for all tests of a process; a plan, a database and real Celery workers and relays for each."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from brokers import Node, free_port, need_rabbitmq
from celery_bench import CeleryBench

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    need_rabbitmq()
    node = Node(folder=tmp_path_factory.mktemp("rabbitmq"), port=free_port())
    node.start()
    yield node
    node.kill()


@pytest.fixture
def bench(node: Node, tmp_path: Path) -> Iterator[CeleryBench]:
    made = new_bench(node.url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def planned(bench: CeleryBench, request: pytest.FixtureRequest) -> CeleryBench:
    """With the plan of the test's module."""
    bench.plan(request.module.PLAN)
    return bench


def new_bench(broker: str, folder: Path) -> CeleryBench:
    return CeleryBench(folder, f"sqlite:///{folder / 'jobs.db'}", broker=broker, project=f"t{os.getpid()}-{next(_NUMBERS)}")


@pytest.fixture(scope="module")
def running(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CeleryBench]:
    """A worker with two processes and a relay, for tests that only look at single jobs."""
    made = new_bench(node.url, tmp_path_factory.mktemp("running"))
    yield made
    made.close()
